package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/toolrunner"
)

const maxTokens = 500

type anthropicChecks struct{ client anthropic.Client }

func withAnthropic() {
	all := anthropicChecks{anthropic.NewClient(
		option.WithBaseURL(base), option.WithAPIKey(key), option.WithMaxRetries(0),
	)}
	check("anthropic message", all.message)
	check("anthropic tools", all.tools)
	check("anthropic tools streamed", all.toolsStreamed)
	check("anthropic runner", all.runner)
	check("anthropic runner streamed", all.runnerStreamed)
	check("anthropic picture", all.picture)
	check("anthropic batch", all.batch)
	check("anthropic object", all.object)
	check("anthropic count", all.count)
	check("anthropic models", all.models)
	check("anthropic error", all.refusal)
	check("anthropic count error", all.countRefusal)
	check("anthropic cut", all.cut)
	check("anthropic missing members", missing)
}

func said(text string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: model, MaxTokens: maxTokens,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(text))},
	}
}

func textIn(message anthropic.Message) string {
	text := ""
	for _, block := range message.Content {
		if variant, isText := block.AsAny().(anthropic.TextBlock); isText {
			text += variant.Text
		}
	}
	return text
}

func (all anthropicChecks) whole(params anthropic.MessageNewParams) (anthropic.Message, error) {
	answer, err := all.client.Messages.New(ctx, params)
	if err != nil {
		return anthropic.Message{}, err
	}
	requireAll(answer)
	return *answer, nil
}

// streamed reads a stream to its end.
func (all anthropicChecks) streamed(params anthropic.MessageNewParams) (anthropic.Message, error) {
	stream := all.client.Messages.NewStreaming(ctx, params)
	defer stream.Close()
	whole := anthropic.Message{}
	for stream.Next() {
		requireAll(stream.Current())
		if err := whole.Accumulate(stream.Current()); err != nil {
			return whole, err
		}
	}
	return whole, stream.Err()
}

func (all anthropicChecks) message() (any, error) {
	answer, err := all.whole(said(prompt))
	if err != nil {
		return nil, err
	}
	streamed, err := all.streamed(said(prompt))
	if err != nil {
		return nil, err
	}
	return list(
		answer.Model, answer.Usage.OutputTokens, answer.StopReason,
		streamed.Model, streamed.Usage.OutputTokens, streamed.StopReason,
		textIn(streamed) == textIn(answer) && streamed.Usage.InputTokens == answer.Usage.InputTokens,
	), nil
}

func (all anthropicChecks) tools() (any, error)         { return toolLoop(all.whole) }
func (all anthropicChecks) toolsStreamed() (any, error) { return toolLoop(all.streamed) }

func toolLoop(send func(anthropic.MessageNewParams) (anthropic.Message, error)) (any, error) {
	params := said(toolPrompt)
	params.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
		Name: "weather", InputSchema: anthropic.ToolInputSchemaParam{Properties: weatherSchema["properties"]},
	}}}
	cities, callers := []string{}, []string{}
	for range maxTurns {
		answer, err := send(params)
		if err != nil {
			return nil, err
		}
		results := []anthropic.ContentBlockParamUnion{}
		for _, block := range answer.Content {
			call, isCall := block.AsAny().(anthropic.ToolUseBlock)
			if !isCall {
				continue
			}
			name, err := cityOf(string(call.Input))
			if err != nil {
				return nil, err
			}
			cities, callers = append(cities, name), append(callers, call.Caller.Type)
			results = append(results, anthropic.NewToolResultBlock(call.ID, rainIn(name), false))
		}
		if len(results) == 0 {
			return list(cities, callers, answer.StopReason, quotesRain(textIn(answer))), nil
		}
		params.Messages = append(params.Messages, answer.ToParam(), anthropic.NewUserMessage(results...))
	}
	return nil, errors.New("the loop did not end")
}

// ran is the conversation of a runner, whose tool notes the cities.
type ran struct {
	cities []string
	tools  []anthropic.BetaTool
	params anthropic.BetaToolRunnerParams
}

func newRun() (*ran, error) {
	run := &ran{params: anthropic.BetaToolRunnerParams{BetaMessageNewParams: anthropic.BetaMessageNewParams{
		Model: model, MaxTokens: maxTokens,
		Messages: []anthropic.BetaMessageParam{
			anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock(toolPrompt)),
		},
	}}}
	tool, err := toolrunner.NewBetaToolFromJSONSchema("weather", "The weather of a city",
		func(_ context.Context, asked city) (anthropic.BetaToolResultBlockParamContentUnion, error) {
			run.cities = append(run.cities, asked.City)
			return anthropic.BetaToolResultBlockParamContentUnion{
				OfText: &anthropic.BetaTextBlockParam{Text: rainIn(asked.City)},
			}, nil
		})
	run.tools = []anthropic.BetaTool{tool}
	return run, err
}

func (all anthropicChecks) runner() (any, error) {
	run, err := newRun()
	if err != nil {
		return nil, err
	}
	answer, err := all.client.Beta.Messages.NewToolRunner(run.tools, run.params).RunToCompletion(ctx)
	if err != nil {
		return nil, err
	}
	requireAll(answer)
	return list(run.cities, answer.StopReason, quotesRain(answer.RawJSON())), nil
}

func (all anthropicChecks) runnerStreamed() (any, error) {
	run, err := newRun()
	if err != nil {
		return nil, err
	}
	runner := all.client.Beta.Messages.NewToolRunnerStreaming(run.tools, run.params)
	for events, err := range runner.AllStreaming(ctx) {
		if err != nil {
			return nil, err
		}
		for event, err := range events {
			if err != nil {
				return nil, err
			}
			requireAll(event)
		}
	}
	answer := runner.LastMessage()
	return list(run.cities, answer.StopReason, quotesRain(answer.Content[len(answer.Content)-1].Text)), nil
}

func (all anthropicChecks) picture() (any, error) {
	params := said(prompt)
	params.Messages[0].Content = append(
		params.Messages[0].Content, anthropic.NewImageBlockBase64("image/png", pngBase64),
	)
	answer, err := all.whole(params)
	return answer.Usage.OutputTokens, err
}

// batch sends one message and waits for its result.
func (all anthropicChecks) batch() (any, error) {
	batch, err := all.client.Messages.Batches.New(ctx, anthropic.MessageBatchNewParams{
		Requests: []anthropic.MessageBatchNewParamsRequest{{
			CustomID: "first",
			Params: anthropic.MessageBatchNewParamsRequestParams{
				Model: model, MaxTokens: maxTokens, Messages: said(prompt).Messages,
			},
		}},
	})
	for err == nil && batch.ProcessingStatus != anthropic.MessageBatchProcessingStatusEnded {
		requireAll(batch)
		time.Sleep(100 * time.Millisecond)
		batch, err = all.client.Messages.Batches.Get(ctx, batch.ID, anthropic.MessageBatchGetParams{})
	}
	if err != nil {
		return nil, err
	}
	requireAll(batch)
	tokens := []int64{}
	results := all.client.Messages.Batches.ResultsStreaming(ctx, batch.ID, anthropic.MessageBatchResultsParams{})
	for results.Next() {
		requireAll(results.Current())
		succeeded, isSuccess := results.Current().Result.AsAny().(anthropic.MessageBatchSucceededResult)
		if isSuccess {
			tokens = append(tokens, succeeded.Message.Usage.OutputTokens)
		}
	}
	if err := results.Err(); err != nil {
		return nil, err
	}
	deleted, err := all.client.Messages.Batches.Delete(ctx, batch.ID, anthropic.MessageBatchDeleteParams{})
	if err != nil {
		return nil, err
	}
	requireAll(deleted)
	return list(tokens, batch.RequestCounts.Succeeded, deleted.ID == batch.ID), nil
}

func (all anthropicChecks) object() (any, error) {
	params := said("A city")
	params.OutputConfig = anthropic.OutputConfigParam{
		Format: anthropic.JSONOutputFormatParam{Schema: weatherSchema},
	}
	answer, err := all.whole(params)
	if err != nil {
		return nil, err
	}
	name, err := cityOf(textIn(answer))
	return name != "", err
}

func (all anthropicChecks) countOf(name string) (*anthropic.MessageTokensCount, error) {
	return all.client.Messages.CountTokens(ctx, anthropic.MessageCountTokensParams{
		Model: name, Messages: said(prompt).Messages,
	})
}

// count compares the count of tokens with the usage of the answer.
func (all anthropicChecks) count() (any, error) {
	counted, err := all.countOf(model)
	if err != nil {
		return nil, err
	}
	requireAll(counted)
	return counted.InputTokens > 0, nil
}

func (all anthropicChecks) models() (any, error) {
	pager := all.client.Models.ListAutoPaging(ctx, anthropic.ModelListParams{})
	isListed := false
	for pager.Next() {
		requireAll(pager.Current())
		isListed = isListed || pager.Current().ID == model
	}
	if err := pager.Err(); err != nil {
		return nil, err
	}
	one, err := all.client.Models.Get(ctx, model, anthropic.ModelGetParams{})
	if err != nil {
		return nil, err
	}
	requireAll(one)
	return list(isListed, one.ID), nil
}

func anthropicError(err error) (any, error) {
	var refusal *anthropic.Error
	if !errors.As(err, &refusal) {
		return nil, errors.Join(errors.New("no *anthropic.Error"), err)
	}
	var body struct {
		Error struct {
			Code  string `json:"code"`
			Param string `json:"param"`
			Meant string `json:"did_you_mean"`
			Hint  string `json:"hint"`
		} `json:"error"`
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(refusal.RawJSON()), &body); err != nil {
		return nil, err
	}
	return list(
		refusal.Type(), refusal.StatusCode, body.Error.Code, body.Error.Param, body.Error.Meant,
		strings.Contains(body.Error.Hint, "GET /v1/models") && refusal.RequestID == body.RequestID,
	), nil
}

func (all anthropicChecks) refusal() (any, error) {
	params := said(prompt)
	params.Model = "gpt-4o-minni"
	_, err := all.client.Messages.New(ctx, params)
	return anthropicError(err)
}

func (all anthropicChecks) countRefusal() (any, error) {
	_, err := all.countOf("gpt-4o-minni")
	return anthropicError(err)
}

func (all anthropicChecks) cut() (any, error) {
	answer, err := all.streamed(said(cutPrompt))
	return list(len(answer.Content) > 0, broken(err)), nil
}
