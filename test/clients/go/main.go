// The Go packages of OpenAI, Anthropic and Google against a Weir: client BASE KEY MODEL.
// It prints what the packages decoded, as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

const prompt = "Hello [[sim tokens=12]]"

// The directive of the simulator that ends a stream in its middle.
const cutPrompt = "Hello [[sim tokens=40 truncate_after=8]]"

// A script of the simulator: two calls of a tool, one after another.
const toolPrompt = `The weather? [[call weather {"city":"Oslo"}]] [[call weather {"city":"Rome"}]]`

// An answer after the tools, if the loop never ends.
const maxTurns = 6

var (
	base, key, model string
	ctx              = context.Background()
	found            = map[string]any{}
)

var weatherSchema = map[string]any{
	"type":                 "object",
	"properties":           map[string]any{"city": map[string]any{"type": "string"}},
	"required":             []string{"city"},
	"additionalProperties": false,
}

// city is both the arguments of the tool and the object that a model returns.
type city struct {
	City string `json:"city" jsonschema:"required"`
}

func cityOf(text string) (string, error) {
	var parsed city
	err := json.Unmarshal([]byte(text), &parsed)
	return parsed.City, err
}

func rainIn(name string) string { return "Rain in " + name }

func quotesRain(text string) bool { return strings.Contains(text, rainIn("Rome")) }

// check records what `run` returns, or its error.
func check(name string, run func() (any, error)) {
	defer func() {
		if failure := recover(); failure != nil {
			found[name] = fmt.Sprint("panic: ", failure)
		}
	}()
	value, err := run()
	if err != nil {
		value = "error: " + err.Error()
	}
	found[name] = value
}

// broken tells whether an error names Weir's code for an upstream that breaks off.
func broken(err error) bool {
	return err != nil && strings.Contains(err.Error(), "upstream_error")
}

func list(values ...any) []any { return values }

func main() {
	base, key, model = os.Args[1], os.Args[2], os.Args[3]
	withOpenAI()
	withAnthropic()
	withGoogle()
	_ = json.NewEncoder(os.Stdout).Encode(found)
}
