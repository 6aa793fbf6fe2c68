package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

// A picture of one pixel.
const pngBase64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

var png, _ = base64.StdEncoding.DecodeString(pngBase64)

var weatherTools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(
	shared.FunctionDefinitionParam{Name: "weather", Parameters: weatherSchema, Strict: openai.Bool(true)},
)}

type openaiChecks struct{ client openai.Client }

func withOpenAI() {
	all := openaiChecks{openai.NewClient(
		option.WithBaseURL(base+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0),
	)}
	check("openai chat", all.chat)
	check("openai chat tools", all.chatTools)
	check("openai chat tools streamed", all.chatToolsStreamed)
	check("openai chat picture", all.chatPicture)
	check("openai chat parallel tools", all.chatParallel)
	check("openai chat object", all.chatObject)
	check("openai chat error", all.chatError)
	check("openai responses", all.responses)
	check("openai responses tools", all.responsesTools)
	check("openai responses stored", all.responsesStored)
	check("openai responses object", all.responsesObject)
	check("openai responses error", all.responsesError)
	check("openai embeddings", all.embeddings)
	check("openai images", all.images)
	check("openai image edit", all.imageEdit)
	check("openai image stream", all.imageStream)
	check("openai speech and transcript", all.speechAndTranscript)
	check("openai headers", all.headers)
	check("openai models", all.models)
	check("openai input tokens", all.inputTokens)
	check("openai chat cut", all.chatCut)
	check("openai responses cut", all.responsesCut)
	check("openai missing members", missing)
}

func question(text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)},
	}
}

// streamed reads a stream to its end.
func (all openaiChecks) streamed(params openai.ChatCompletionNewParams) (openai.ChatCompletionAccumulator, error) {
	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	stream := all.client.Chat.Completions.NewStreaming(ctx, params)
	defer stream.Close()
	whole := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		requireAll(stream.Current())
		if !whole.AddChunk(stream.Current()) {
			return whole, errors.New("a chunk does not belong to the answer")
		}
	}
	return whole, stream.Err()
}

func (all openaiChecks) chat() (any, error) {
	answer, err := all.client.Chat.Completions.New(ctx, question(prompt))
	if err != nil {
		return nil, err
	}
	requireAll(answer)
	streamed, err := all.streamed(question(prompt))
	if err != nil {
		return nil, err
	}
	text := answer.Choices[0].Message.Content
	return list(
		answer.Model, answer.Usage.CompletionTokens, answer.Choices[0].FinishReason,
		streamed.Model, streamed.Usage.CompletionTokens, streamed.Choices[0].FinishReason,
		streamed.Choices[0].Message.Content == text && text != "",
	), nil
}

func (all openaiChecks) chatTools() (any, error) {
	return all.chatLoop(func(params openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
		answer, err := all.client.Chat.Completions.New(ctx, params)
		requireAll(answer)
		return answer, err
	})
}

func (all openaiChecks) chatToolsStreamed() (any, error) {
	return all.chatLoop(func(params openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
		whole, err := all.streamed(params)
		return &whole.ChatCompletion, err
	})
}

func (all openaiChecks) chatLoop(send func(openai.ChatCompletionNewParams) (*openai.ChatCompletion, error)) (any, error) {
	params := question(toolPrompt)
	params.Tools = weatherTools
	cities := []string{}
	for range maxTurns {
		answer, err := send(params)
		if err != nil {
			return nil, err
		}
		choice := answer.Choices[0]
		if len(choice.Message.ToolCalls) == 0 {
			return list(cities, choice.FinishReason, quotesRain(choice.Message.Content)), nil
		}
		params.Messages = append(params.Messages, choice.Message.ToParam())
		for _, call := range choice.Message.ToolCalls {
			name, err := cityOf(call.Function.Arguments)
			if err != nil {
				return nil, err
			}
			cities = append(cities, name)
			params.Messages = append(params.Messages, openai.ToolMessage(rainIn(name), call.ID))
		}
	}
	return nil, errors.New("the loop did not end")
}

func (all openaiChecks) chatPicture() (any, error) {
	params := question("")
	params.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage(
		[]openai.ChatCompletionContentPartUnionParam{
			openai.TextContentPart(prompt),
			openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{
				URL: "data:image/png;base64," + pngBase64,
			}),
		},
	)}
	answer, err := all.client.Chat.Completions.New(ctx, params)
	if err != nil {
		return nil, err
	}
	return answer.Usage.CompletionTokens, nil
}

// chatParallel compares two calls of one turn, whole and streamed.
func (all openaiChecks) chatParallel() (any, error) {
	params := question("The weather? [[sim tools=2]]")
	params.Tools = weatherTools
	whole, err := all.client.Chat.Completions.New(ctx, params)
	if err != nil {
		return nil, err
	}
	streamed, err := all.streamed(params)
	if err != nil {
		return nil, err
	}
	same := []bool{}
	for at, call := range whole.Choices[0].Message.ToolCalls {
		other := streamed.Choices[0].Message.ToolCalls[at]
		same = append(same, call.Function.Name == other.Function.Name &&
			call.Function.Arguments == other.Function.Arguments && other.ID != "")
	}
	return list(same, streamed.Choices[0].FinishReason), nil
}

func (all openaiChecks) chatObject() (any, error) {
	params := question("A city")
	params.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{
		OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: "city", Schema: weatherSchema, Strict: openai.Bool(true),
			},
		},
	}
	answer, err := all.client.Chat.Completions.New(ctx, params)
	if err != nil {
		return nil, err
	}
	name, err := cityOf(answer.Choices[0].Message.Content)
	return name != "", err
}

func openaiError(err error) (any, error) {
	var refusal *openai.Error
	if !errors.As(err, &refusal) {
		return nil, errors.Join(errors.New("no *openai.Error"), err)
	}
	meant := refusal.JSON.ExtraFields["did_you_mean"]
	hint := refusal.JSON.ExtraFields["hint"]
	return list(
		refusal.Type, refusal.StatusCode, refusal.Code, refusal.Param, strings.Trim(meant.Raw(), `"`),
		strings.Contains(hint.Raw(), "GET /v1/models"),
	), nil
}

func (all openaiChecks) chatError() (any, error) {
	params := question(prompt)
	params.Model = "gpt-4o-minni"
	_, err := all.client.Chat.Completions.New(ctx, params)
	return openaiError(err)
}

func input(text string) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: model,
		Input: responses.ResponseNewParamsInputUnion{OfString: param.NewOpt(text)},
	}
}

// streamedResponse returns the deltas of the text, and the response of the last event.
func (all openaiChecks) streamedResponse(params responses.ResponseNewParams) (string, *responses.Response, error) {
	stream := all.client.Responses.NewStreaming(ctx, params)
	defer stream.Close()
	var text strings.Builder
	var last *responses.Response
	number := int64(0)
	for stream.Next() {
		event := stream.Current()
		requireAll(event)
		if event.SequenceNumber != number {
			return "", nil, errors.New("an event has the wrong sequence number: " + event.RawJSON())
		}
		number++
		switch variant := event.AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text.WriteString(variant.Delta)
		case responses.ResponseCompletedEvent:
			last = &variant.Response
		}
	}
	return text.String(), last, stream.Err()
}

func (all openaiChecks) responses() (any, error) {
	answer, err := all.client.Responses.New(ctx, input(prompt))
	if err != nil {
		return nil, err
	}
	requireAll(answer)
	text, streamed, err := all.streamedResponse(input(prompt))
	if err != nil {
		return nil, err
	}
	return list(
		answer.Model, answer.Usage.OutputTokens, answer.Status,
		streamed.Model, streamed.Usage.OutputTokens, streamed.Status,
		text == answer.OutputText() && streamed.OutputText() == text,
	), nil
}

// responsesTools streams each turn. It sends the earlier turns back itself, as its own items.
func (all openaiChecks) responsesTools() (any, error) {
	items := responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage(toolPrompt, responses.EasyInputMessageRoleUser),
	}
	cities := []string{}
	for range maxTurns {
		params := responses.ResponseNewParams{
			Model: model,
			Input: responses.ResponseNewParamsInputUnion{OfInputItemList: items},
			Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{
				Name: "weather", Parameters: weatherSchema, Strict: openai.Bool(true),
			}}},
		}
		_, answer, err := all.streamedResponse(params)
		if err != nil {
			return nil, err
		}
		calls := 0
		for _, output := range answer.Output {
			item := responses.ResponseInputItemUnionParam{}
			if err := json.Unmarshal([]byte(output.RawJSON()), &item); err != nil {
				return nil, err
			}
			items = append(items, item)
			call, isCall := output.AsAny().(responses.ResponseFunctionToolCall)
			if !isCall {
				continue
			}
			calls++
			name, err := cityOf(call.Arguments)
			if err != nil {
				return nil, err
			}
			cities = append(cities, name)
			result := responses.ResponseInputItemParamOfFunctionCallOutput(rainIn(name))
			result.OfFunctionCallOutput.CallID = param.NewOpt(call.CallID)
			items = append(items, result)
		}
		if calls == 0 {
			return list(cities, answer.Status, quotesRain(answer.OutputText())), nil
		}
	}
	return nil, errors.New("the loop did not end")
}

// responsesStored reads, continues and deletes a stored answer.
func (all openaiChecks) responsesStored() (any, error) {
	first, err := all.client.Responses.New(ctx, input(prompt))
	if err != nil {
		return nil, err
	}
	read, err := all.client.Responses.Get(ctx, first.ID, responses.ResponseGetParams{})
	if err != nil {
		return nil, err
	}
	requireAll(read)
	next := input(prompt)
	next.PreviousResponseID = param.NewOpt(first.ID)
	second, err := all.client.Responses.New(ctx, next)
	if err != nil {
		return nil, err
	}
	if err := all.client.Responses.Delete(ctx, first.ID); err != nil {
		return nil, err
	}
	_, err = all.client.Responses.Get(ctx, first.ID, responses.ResponseGetParams{})
	var refusal *openai.Error
	if !errors.As(err, &refusal) {
		return nil, errors.Join(errors.New("no *openai.Error"), err)
	}
	return list(
		read.OutputText() == first.OutputText(), second.PreviousResponseID == first.ID,
		second.Usage.InputTokens > first.Usage.InputTokens+first.Usage.OutputTokens, refusal.StatusCode,
	), nil
}

func (all openaiChecks) responsesObject() (any, error) {
	params := input("A city")
	params.Text = responses.ResponseTextConfigParam{
		Format: responses.ResponseFormatTextConfigParamOfJSONSchema("city", weatherSchema),
	}
	answer, err := all.client.Responses.New(ctx, params)
	if err != nil {
		return nil, err
	}
	name, err := cityOf(answer.OutputText())
	return name != "", err
}

func (all openaiChecks) responsesError() (any, error) {
	params := input(prompt)
	params.Model = "gpt-4o-minni"
	_, err := all.client.Responses.New(ctx, params)
	return openaiError(err)
}

func (all openaiChecks) embeddings() (any, error) {
	answer, err := all.client.Embeddings.New(ctx, openai.EmbeddingNewParams{
		Model: "text-embedding-3-small",
		Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"a", "b"}},
	})
	if err != nil {
		return nil, err
	}
	requireAll(answer)
	return list(len(answer.Data), len(answer.Data[1].Embedding), answer.Usage.TotalTokens), nil
}

func (all openaiChecks) images() (any, error) {
	answer, err := all.client.Images.Generate(ctx, openai.ImageGenerateParams{
		Model: "gpt-image-1", Prompt: "A lighthouse", Size: openai.ImageGenerateParamsSize1024x1024,
	}, option.WithHeader("x-weir-image-response-format", "b64_json"))
	if err != nil {
		return nil, err
	}
	requireAll(answer)
	return list(len(answer.Data), len(answer.Data[0].B64JSON) > 0), nil
}

func (all openaiChecks) imageEdit() (any, error) {
	answer, err := all.client.Images.Edit(ctx, openai.ImageEditParams{
		Model: "gpt-image-1", Prompt: "Add a ship",
		Image: openai.ImageEditParamsImageUnion{OfFile: openai.File(bytes.NewReader(png), "a.png", "image/png")},
	}, option.WithHeader("x-weir-image-response-format", "b64_json"))
	if err != nil {
		return nil, err
	}
	requireAll(answer)
	return list(len(answer.Data), len(answer.Data[0].B64JSON) > 0), nil
}

// imageStream reads the events of an image, and the tokens at its end.
func (all openaiChecks) imageStream() (any, error) {
	stream := all.client.Images.GenerateStreaming(ctx, openai.ImageGenerateParams{
		Model: "gpt-image-1", Prompt: "A lighthouse", PartialImages: openai.Int(2),
	})
	defer stream.Close()
	kinds, isWhole := []string{}, false
	for stream.Next() {
		event := stream.Current()
		requireAll(event)
		kinds = append(kinds, event.Type)
		isWhole = event.B64JSON != "" && event.Usage.OutputTokens > 0
	}
	return list(kinds[len(kinds)-1], isWhole), stream.Err()
}

func (all openaiChecks) speechAndTranscript() (any, error) {
	speech, err := all.client.Audio.Speech.New(ctx, openai.AudioSpeechNewParams{
		Model: "tts-1", Input: "Hello there",
		Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("alloy")},
	})
	if err != nil {
		return nil, err
	}
	defer speech.Body.Close()
	sound, err := io.ReadAll(speech.Body)
	if err != nil {
		return nil, err
	}
	answer, err := all.client.Audio.Transcriptions.New(ctx, openai.AudioTranscriptionNewParams{
		Model: "whisper-1", File: openai.File(bytes.NewReader(sound), "a.mp3", "audio/mpeg"),
	})
	if err != nil {
		return nil, err
	}
	requireAll(answer)
	return list(len(sound) > 0, answer.Text != "", answer.Usage.Type), nil
}

// headers reads the limits of the rate. The package asks for a compressed answer, and unpacks it.
func (all openaiChecks) headers() (any, error) {
	var response *http.Response
	_, err := all.client.Embeddings.New(ctx, openai.EmbeddingNewParams{
		Model: "text-embedding-3-small",
		Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("a")},
	}, option.WithResponseInto(&response))
	if err != nil {
		return nil, err
	}
	limit, err := strconv.Atoi(response.Header.Get("x-ratelimit-limit-requests"))
	if err != nil {
		return nil, err
	}
	left, err := strconv.Atoi(response.Header.Get("x-ratelimit-remaining-requests"))
	if err != nil {
		return nil, err
	}
	_, err = time.ParseDuration(response.Header.Get("x-ratelimit-reset-requests"))
	return list(left < limit, response.Uncompressed), err
}

func (all openaiChecks) models() (any, error) {
	pager := all.client.Models.ListAutoPaging(ctx)
	isListed := false
	for pager.Next() {
		requireAll(pager.Current())
		isListed = isListed || pager.Current().ID == model
	}
	if err := pager.Err(); err != nil {
		return nil, err
	}
	one, err := all.client.Models.Get(ctx, model)
	if err != nil {
		return nil, err
	}
	requireAll(one)
	return list(isListed, one.ID), nil
}

func (all openaiChecks) inputTokens() (any, error) {
	_, err := all.client.Responses.InputTokens.Count(ctx, responses.InputTokenCountParams{
		Model: param.NewOpt(model),
	})
	var refusal *openai.Error
	if !errors.As(err, &refusal) {
		return nil, errors.Join(errors.New("no *openai.Error"), err)
	}
	return list(refusal.StatusCode, strings.Contains(refusal.RawJSON(), "count_tokens")), nil
}

func (all openaiChecks) chatCut() (any, error) {
	answer, err := all.streamed(question(cutPrompt))
	return list(len(answer.Choices) > 0, broken(err)), nil
}

func (all openaiChecks) responsesCut() (any, error) {
	text, _, err := all.streamedResponse(input(cutPrompt))
	return list(text != "", broken(err)), nil
}
