import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.errors.AnthropicException;
import com.anthropic.errors.BadRequestException;
import com.anthropic.helpers.BetaMessageAccumulator;
import com.anthropic.helpers.BetaRunnableTool;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.beta.messages.BetaMessage;
import com.anthropic.models.beta.messages.BetaRawMessageStreamEvent;
import com.anthropic.models.beta.messages.BetaToolResultBlockParam;
import com.anthropic.models.beta.messages.ToolRunnerCreateParams;
import com.anthropic.models.messages.ContentBlock;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCountTokensParams;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import com.anthropic.models.messages.ToolUseBlock;
import com.anthropic.models.messages.batches.BatchCreateParams;
import com.anthropic.models.messages.batches.MessageBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

final class AnthropicChecks {
  private static final long MAX_TOKENS = 500;

  private final Client all;
  private final AnthropicClient client;

  AnthropicChecks(Client all) {
    this.all = all;
    client =
        AnthropicOkHttpClient.builder()
            .baseUrl(all.base)
            .apiKey(all.key)
            .maxRetries(0)
            .responseValidation(true)
            .build();
  }

  void run() {
    all.check("anthropic message", this::message);
    all.check("anthropic tools", () -> tools(this::whole));
    all.check("anthropic tools streamed", () -> tools(this::streamed));
    all.check("anthropic runner", this::runner);
    all.check("anthropic runner streamed", this::runnerStreamed);
    all.check("anthropic batch", this::batch);
    all.check("anthropic object", this::object);
    all.check("anthropic count", this::count);
    all.check("anthropic models", this::models);
    all.check("anthropic error", this::error);
    all.check("anthropic count error", this::countError);
    all.check("anthropic cut", this::cut);
  }

  private MessageCreateParams.Builder said(String text) {
    return MessageCreateParams.builder()
        .model(all.model)
        .maxTokens(MAX_TOKENS)
        .addUserMessage(text);
  }

  private interface Send {
    Message send(MessageCreateParams params);
  }

  private Message whole(MessageCreateParams params) {
    return client.messages().create(params).validate();
  }

  private Message streamed(MessageCreateParams params) {
    MessageAccumulator whole = MessageAccumulator.create();
    try (StreamResponse<RawMessageStreamEvent> stream =
        client.messages().createStreaming(params)) {
      stream.stream().forEach(event -> whole.accumulate(event.validate()));
    }
    return whole.message().validate();
  }

  private static String textOf(Message answer) {
    return answer.content().stream()
        .flatMap(block -> block.text().stream())
        .map(block -> block.text())
        .collect(Collectors.joining());
  }

  private static List<Object> summary(Message answer) {
    return List.of(
        answer.model().asString(),
        answer.usage().outputTokens(),
        answer.stopReason().get().asString());
  }

  private Object message() {
    Message answer = whole(said(Client.PROMPT).build());
    Message streamed = streamed(said(Client.PROMPT).build());
    boolean isSame =
        textOf(streamed).equals(textOf(answer))
            && !textOf(answer).isEmpty()
            && streamed.usage().inputTokens() == answer.usage().inputTokens();
    return List.of(summary(answer), summary(streamed), isSame);
  }

  private Object tools(Send send) throws Exception {
    MessageCreateParams.Builder params =
        said(Client.TOOL_PROMPT)
            .addTool(
                Tool.builder()
                    .name("weather")
                    .inputSchema(
                        Tool.InputSchema.builder()
                            .properties(
                                Tool.InputSchema.Properties.builder()
                                    .putAdditionalProperty(
                                        "city",
                                        com.anthropic.core.JsonValue.from(
                                            java.util.Map.of("type", "string")))
                                    .build())
                            .build())
                    .build());
    List<String> cities = new ArrayList<>();
    List<Boolean> direct = new ArrayList<>();
    for (int turn = 0; turn < Client.MAX_TURNS; turn++) {
      Message answer = send.send(params.build());
      List<ContentBlockParam> results = new ArrayList<>();
      for (ContentBlock block : answer.content()) {
        if (!block.isToolUse()) continue;
        ToolUseBlock call = block.asToolUse();
        String city = Client.cityOf(call._input().convert(com.fasterxml.jackson.databind.JsonNode.class).toString());
        cities.add(city);
        direct.add(call.caller().isDirect());
        results.add(
            ContentBlockParam.ofToolResult(
                ToolResultBlockParam.builder()
                    .toolUseId(call.id())
                    .content(Client.rainIn(city))
                    .build()));
      }
      if (results.isEmpty()) {
        return List.of(
            cities,
            direct,
            answer.stopReason().get().asString(),
            Client.quotesRain(textOf(answer)));
      }
      params.addMessage(answer).addUserMessageOfContentBlockParams(results);
    }
    throw new IllegalStateException("the loop did not end");
  }

  private ToolRunnerCreateParams run(List<String> cities) {
    return ToolRunnerCreateParams.builder()
        .initialMessageParams(
            com.anthropic.models.beta.messages.MessageCreateParams.builder()
                .model(all.model)
                .maxTokens(MAX_TOKENS)
                .addUserMessage(Client.TOOL_PROMPT)
                .addTool(
                    BetaRunnableTool.of(
                        City.class,
                        asked -> {
                          cities.add(asked.city);
                          return BetaToolResultBlockParam.Content.ofString(
                              Client.rainIn(asked.city));
                        }))
                .build())
        .build();
  }

  private static List<Object> ended(List<String> cities, BetaMessage last) {
    String text =
        last.content().stream()
            .flatMap(block -> block.text().stream())
            .map(block -> block.text())
            .collect(Collectors.joining());
    return List.of(cities, last.stopReason().get().asString(), Client.quotesRain(text));
  }

  private Object runner() {
    List<String> cities = new ArrayList<>();
    BetaMessage last = null;
    for (BetaMessage message : client.beta().messages().toolRunner(run(cities))) {
      last = message.validate();
    }
    return ended(cities, last);
  }

  private Object runnerStreamed() {
    List<String> cities = new ArrayList<>();
    BetaMessage last = null;
    for (StreamResponse<BetaRawMessageStreamEvent> stream :
        client.beta().messages().toolRunner(run(cities)).streaming()) {
      BetaMessageAccumulator whole = BetaMessageAccumulator.create();
      stream.stream().forEach(event -> whole.accumulate(event.validate()));
      last = whole.message().validate();
    }
    return ended(cities, last);
  }

  /** Sends one message and waits for its result. */
  private Object batch() throws Exception {
    MessageBatch batch =
        client
            .messages()
            .batches()
            .create(
                BatchCreateParams.builder()
                    .addRequest(
                        BatchCreateParams.Request.builder()
                            .customId("first")
                            .params(
                                BatchCreateParams.Request.Params.builder()
                                    .model(all.model)
                                    .maxTokens(MAX_TOKENS)
                                    .addUserMessage(Client.PROMPT)
                                    .build())
                            .build())
                    .build())
            .validate();
    while (!batch.processingStatus().equals(MessageBatch.ProcessingStatus.ENDED)) {
      Thread.sleep(100);
      batch = client.messages().batches().retrieve(batch.id()).validate();
    }
    List<Long> tokens = new ArrayList<>();
    try (var results = client.messages().batches().resultsStreaming(batch.id())) {
      results.stream()
          .flatMap(result -> result.validate().result().succeeded().stream())
          .forEach(succeeded -> tokens.add(succeeded.message().usage().outputTokens()));
    }
    return List.of(tokens, batch.requestCounts().succeeded());
  }

  private Object object() {
    var answer = client.messages().create(said("A city").outputConfig(City.class).build());
    return answer.content().stream()
        .flatMap(block -> block.text().stream())
        .anyMatch(block -> !block.text().city.isEmpty());
  }

  private long countOf(String model) {
    return client
        .messages()
        .countTokens(
            MessageCountTokensParams.builder().model(model).addUserMessage(Client.PROMPT).build())
        .validate()
        .inputTokens();
  }

  private Object count() {
    return countOf(all.model) > 0;
  }

  private Object models() {
    boolean isListed =
        client.models().list().autoPager().stream()
            .anyMatch(model -> model.validate().id().equals(all.model));
    return List.of(isListed, client.models().retrieve(all.model).validate().id());
  }

  private static Object refusal(BadRequestException error) {
    Object body = error.body().convert(Object.class);
    return Client.refused(
        error.errorType().get().asString(),
        error.statusCode(),
        Client.memberOf(body, "error", "code"),
        Client.memberOf(body, "error", "param"),
        Client.memberOf(body, "error", "did_you_mean"),
        Client.memberOf(body, "error", "hint"));
  }

  private Object error() {
    try {
      return whole(said(Client.PROMPT).model(Client.NO_MODEL).build()).toString();
    } catch (BadRequestException error) {
      return refusal(error);
    }
  }

  private Object countError() {
    try {
      return countOf(Client.NO_MODEL);
    } catch (BadRequestException error) {
      return refusal(error);
    }
  }

  private Object cut() {
    List<RawMessageStreamEvent> events = new ArrayList<>();
    try (StreamResponse<RawMessageStreamEvent> stream =
        client.messages().createStreaming(said(Client.CUT_PROMPT).build())) {
      stream.stream().forEach(events::add);
      return List.of(!events.isEmpty(), false);
    } catch (AnthropicException error) {
      return List.of(!events.isEmpty(), true);
    }
  }
}
