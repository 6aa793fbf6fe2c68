package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Answers whose required members were checked, and what they lack.
var (
	checkedAnswers int
	missingMembers = map[string]bool{}
)

// requireAll notes each member that the package calls required and the answer lacks. The packages
// tag such members with `api:"required"`, and keep the JSON of each member in the field JSON. Types of
// betas are left out: they also require members of betas that the request does not use.
func requireAll(answer any) {
	checkedAnswers++
	requireIn(reflect.ValueOf(answer))
}

// missing returns what all answers so far lack, and starts again.
func missing() (any, error) {
	names := []string{}
	for name := range missingMembers {
		names = append(names, name)
	}
	slices.Sort(names)
	checked := checkedAnswers
	checkedAnswers, missingMembers = 0, map[string]bool{}
	return list(checked > 0, names), nil
}

func requireIn(value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			requireIn(value.Elem())
		}
	case reflect.Slice:
		for at := range value.Len() {
			requireIn(value.Index(at))
		}
	case reflect.Struct:
		requireInStruct(value)
	}
}

func requireInStruct(value reflect.Value) {
	if variant := value.MethodByName("AsAny"); variant.IsValid() {
		chosen := variant.Call(nil)[0]
		if chosen.IsNil() {
			missingMembers[fmt.Sprint(value.Type(), ": unknown variant")] = true
			return
		}
		requireIn(chosen)
		return
	}
	if strings.HasPrefix(value.Type().Name(), "Beta") {
		return
	}
	members := value.FieldByName("JSON")
	if !members.IsValid() || members.Kind() != reflect.Struct {
		return
	}
	for at := range value.NumField() {
		field := value.Type().Field(at)
		raw, isMember := rawOf(members.FieldByName(field.Name))
		if !isMember {
			continue
		}
		if raw == "" {
			if field.Tag.Get("api") == "required" {
				missingMembers[fmt.Sprint(value.Type(), ".", field.Name)] = true
			}
			continue
		}
		if raw != "null" {
			requireIn(value.Field(at))
		}
	}
}

// rawOf returns the JSON of a member: "" if it is absent.
func rawOf(member reflect.Value) (string, bool) {
	if !member.IsValid() {
		return "", false
	}
	field, isField := member.Interface().(interface{ Raw() string })
	if !isField {
		return "", false
	}
	return field.Raw(), true
}
