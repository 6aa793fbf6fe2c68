package main

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/genai"
)

type googleChecks struct{ client *genai.Client }

func withGoogle() {
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: base},
	})
	if err != nil {
		panic(err)
	}
	all := googleChecks{client}
	check("google content", all.content)
	check("google tools", all.tools)
	check("google tools streamed", all.toolsStreamed)
	check("google chat", all.chat)
	check("google chat streamed", all.chatStreamed)
	check("google picture", all.picture)
	check("google object", all.object)
	check("google count", all.count)
	check("google models", all.models)
	check("google embeddings", all.embeddings)
	check("google error", all.refusal)
	check("google stream error", all.streamRefusal)
	check("google count error", all.countRefusal)
	check("google cut", all.cut)
}

// The types of Google's own schemas have upper-case names.
var citySchema = &genai.Schema{
	Type:       genai.TypeObject,
	Properties: map[string]*genai.Schema{"city": {Type: genai.TypeString}},
	Required:   []string{"city"},
}

var googleTools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
	Name: "weather", Description: "The weather of a city", Parameters: citySchema,
}}}}

// streamed reads a stream to its end: its text, its last usage and its contents.
func (all googleChecks) streamed(contents []*genai.Content, config *genai.GenerateContentConfig) (string, *genai.GenerateContentResponse, []*genai.Part, error) {
	text, parts := "", []*genai.Part{}
	var last *genai.GenerateContentResponse
	for chunk, err := range all.client.Models.GenerateContentStream(ctx, model, contents, config) {
		if err != nil {
			return text, last, parts, err
		}
		text += chunk.Text()
		last = chunk
		for _, candidate := range chunk.Candidates {
			parts = append(parts, candidate.Content.Parts...)
		}
	}
	return text, last, parts, nil
}

func (all googleChecks) content() (any, error) {
	answer, err := all.client.Models.GenerateContent(ctx, model, genai.Text(prompt), nil)
	if err != nil {
		return nil, err
	}
	text, last, _, err := all.streamed(genai.Text(prompt), nil)
	if err != nil {
		return nil, err
	}
	return list(
		answer.ModelVersion, answer.UsageMetadata.CandidatesTokenCount, answer.Candidates[0].FinishReason,
		last.ModelVersion, last.UsageMetadata.CandidatesTokenCount, last.Candidates[0].FinishReason,
		text == answer.Text() && text != "",
	), nil
}

func (all googleChecks) tools() (any, error) {
	return googleLoop(func(contents []*genai.Content, config *genai.GenerateContentConfig) (string, []*genai.Part, error) {
		answer, err := all.client.Models.GenerateContent(ctx, model, contents, config)
		if err != nil {
			return "", nil, err
		}
		return answer.Text(), answer.Candidates[0].Content.Parts, nil
	})
}

// toolsStreamed sends each turn back with all parts of its chunks, also with the empty ones.
func (all googleChecks) toolsStreamed() (any, error) {
	return googleLoop(func(contents []*genai.Content, config *genai.GenerateContentConfig) (string, []*genai.Part, error) {
		text, _, parts, err := all.streamed(contents, config)
		return text, parts, err
	})
}

func googleLoop(send func([]*genai.Content, *genai.GenerateContentConfig) (string, []*genai.Part, error)) (any, error) {
	config := &genai.GenerateContentConfig{Tools: googleTools}
	contents := genai.Text(toolPrompt)
	cities := []string{}
	for range maxTurns {
		text, parts, err := send(contents, config)
		if err != nil {
			return nil, err
		}
		contents = append(contents, genai.NewContentFromParts(parts, genai.RoleModel))
		results := []*genai.Part{}
		for _, part := range parts {
			if part.FunctionCall == nil {
				continue
			}
			name := fmt.Sprint(part.FunctionCall.Args["city"])
			cities = append(cities, name)
			result := genai.NewPartFromFunctionResponse("weather", map[string]any{"output": rainIn(name)})
			result.FunctionResponse.ID = part.FunctionCall.ID
			results = append(results, result)
		}
		if len(results) == 0 {
			return list(cities, quotesRain(text)), nil
		}
		contents = append(contents, genai.NewContentFromParts(results, genai.RoleUser))
	}
	return nil, errors.New("the loop did not end")
}

const chatTurns = 3

// chat counts the turns that the package keeps. The tokens of the prompt must grow with each turn.
func (all googleChecks) chat() (any, error) {
	return all.chatWith(func(chat *genai.Chat) (string, int32, error) {
		answer, err := chat.SendMessage(ctx, genai.Part{Text: prompt})
		if err != nil {
			return "", 0, err
		}
		return answer.Text(), answer.UsageMetadata.PromptTokenCount, nil
	})
}

func (all googleChecks) chatStreamed() (any, error) {
	return all.chatWith(func(chat *genai.Chat) (string, int32, error) {
		text, counted := "", int32(0)
		for chunk, err := range chat.SendMessageStream(ctx, genai.Part{Text: prompt}) {
			if err != nil {
				return "", 0, err
			}
			text += chunk.Text()
			if chunk.UsageMetadata != nil {
				counted = chunk.UsageMetadata.PromptTokenCount
			}
		}
		return text, counted, nil
	})
}

func (all googleChecks) chatWith(send func(*genai.Chat) (string, int32, error)) (any, error) {
	chat, err := all.client.Chats.Create(ctx, model, nil, nil)
	if err != nil {
		return nil, err
	}
	grows, before := true, int32(0)
	for range chatTurns {
		text, counted, err := send(chat)
		if err != nil {
			return nil, err
		}
		grows = grows && text != "" && counted > before
		before = counted
	}
	turns, role := 0, ""
	for _, content := range chat.History(true) {
		if content.Role != role {
			turns++
		}
		role = content.Role
	}
	return list(turns, grows), nil
}

func (all googleChecks) picture() (any, error) {
	parts := []*genai.Part{genai.NewPartFromText(prompt), genai.NewPartFromBytes(png, "image/png")}
	contents := []*genai.Content{genai.NewContentFromParts(parts, genai.RoleUser)}
	answer, err := all.client.Models.GenerateContent(ctx, model, contents, nil)
	if err != nil {
		return nil, err
	}
	return answer.UsageMetadata.CandidatesTokenCount, nil
}

func (all googleChecks) object() (any, error) {
	asGoogle := &genai.GenerateContentConfig{ResponseMIMEType: "application/json", ResponseSchema: citySchema}
	asJSON := &genai.GenerateContentConfig{ResponseMIMEType: "application/json", ResponseJsonSchema: weatherSchema}
	named := []any{}
	for _, config := range []*genai.GenerateContentConfig{asGoogle, asJSON} {
		answer, err := all.client.Models.GenerateContent(ctx, model, genai.Text("A city"), config)
		if err != nil {
			return nil, err
		}
		name, err := cityOf(answer.Text())
		if err != nil {
			return nil, err
		}
		named = append(named, name != "")
	}
	return named, nil
}

func (all googleChecks) count() (any, error) {
	counted, err := all.client.Models.CountTokens(ctx, model, genai.Text(prompt), nil)
	if err != nil {
		return nil, err
	}
	return counted.TotalTokens > 0, nil
}

func (all googleChecks) models() (any, error) {
	isListed := false
	for each, err := range all.client.Models.All(ctx) {
		if err != nil {
			return nil, err
		}
		isListed = isListed || each.Name == "models/"+model
	}
	one, err := all.client.Models.Get(ctx, model, nil)
	if err != nil {
		return nil, err
	}
	return list(isListed, one.Name), nil
}

func googleError(err error) (any, error) {
	var refusal genai.APIError
	if !errors.As(err, &refusal) {
		return nil, errors.Join(errors.New("no genai.APIError"), err)
	}
	details := refusal.Details[0]
	return list(
		refusal.Status, refusal.Code, details["reason"], details["param"], details["did_you_mean"],
		strings.Contains(fmt.Sprint(details["hint"]), "GET /v1/models"),
	), nil
}

func (all googleChecks) embeddings() (any, error) {
	_, err := all.client.Models.EmbedContent(ctx, model, genai.Text("a"), nil)
	var refusal genai.APIError
	if !errors.As(err, &refusal) {
		return nil, errors.Join(errors.New("no genai.APIError"), err)
	}
	said := fmt.Sprint(refusal.Message, refusal.Details)
	return list(refusal.Code, refusal.Status, strings.Contains(said, "/v1/embeddings")), nil
}

func (all googleChecks) refusal() (any, error) {
	_, err := all.client.Models.GenerateContent(ctx, "gpt-4o-minni", genai.Text(prompt), nil)
	return googleError(err)
}

func (all googleChecks) streamRefusal() (any, error) {
	for _, err := range all.client.Models.GenerateContentStream(ctx, "gpt-4o-minni", genai.Text(prompt), nil) {
		if err != nil {
			return googleError(err)
		}
	}
	return nil, errors.New("no error")
}

func (all googleChecks) countRefusal() (any, error) {
	_, err := all.client.Models.CountTokens(ctx, "gpt-4o-minni", genai.Text(prompt), nil)
	return googleError(err)
}

func (all googleChecks) cut() (any, error) {
	text, _, _, err := all.streamed(genai.Text(cutPrompt), nil)
	return list(text != "", broken(err)), nil
}
