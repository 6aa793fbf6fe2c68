import static com.openai.core.ObjectMappers.jsonMapper;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.StreamResponse;
import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.errors.OpenAIException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessageToolCall;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.images.ImageGenerateParams;
import com.openai.models.responses.EasyInputMessage;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseFunctionToolCall;
import com.openai.models.responses.ResponseInputItem;
import com.openai.models.responses.ResponseOutputItem;
import com.openai.models.responses.ResponseStreamEvent;
import com.openai.models.responses.inputtokens.InputTokenCountParams;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

final class OpenAIChecks {
  private final Client all;
  private final OpenAIClient client;

  OpenAIChecks(Client all) {
    this.all = all;
    client =
        OpenAIOkHttpClient.builder()
            .baseUrl(all.base + "/v1")
            .apiKey(all.key)
            .maxRetries(0)
            .responseValidation(true)
            .build();
  }

  void run() {
    all.check("openai chat", this::chat);
    all.check("openai chat tools", () -> chatTools(this::whole));
    all.check("openai chat tools streamed", () -> chatTools(this::streamed));
    all.check("openai chat object", this::chatObject);
    all.check("openai chat error", this::chatError);
    all.check("openai responses", this::responses);
    all.check("openai responses tools", this::responsesTools);
    all.check("openai responses stored", this::responsesStored);
    all.check("openai responses object", this::responsesObject);
    all.check("openai responses error", this::responsesError);
    all.check("openai embeddings", this::embeddings);
    all.check("openai images", this::images);
    all.check("openai models", this::models);
    all.check("openai input tokens", this::inputTokens);
    all.check("openai chat cut", this::chatCut);
    all.check("openai responses cut", this::responsesCut);
  }

  private ChatCompletionCreateParams.Builder question(String text) {
    return ChatCompletionCreateParams.builder().model(all.model).addUserMessage(text);
  }

  private interface Send {
    ChatCompletion send(ChatCompletionCreateParams params);
  }

  private ChatCompletion whole(ChatCompletionCreateParams params) {
    return client.chat().completions().create(params).validate();
  }

  private ChatCompletion streamed(ChatCompletionCreateParams params) {
    ChatCompletionAccumulator whole = ChatCompletionAccumulator.create();
    ChatCompletionCreateParams withUsage =
        params.toBuilder()
            .streamOptions(ChatCompletionStreamOptions.builder().includeUsage(true).build())
            .build();
    try (StreamResponse<ChatCompletionChunk> stream =
        client.chat().completions().createStreaming(withUsage)) {
      stream.stream().forEach(chunk -> whole.accumulate(chunk.validate()));
    }
    return whole.chatCompletion();
  }

  private static String textOf(ChatCompletion answer) {
    return answer.choices().get(0).message().content().orElse("");
  }

  private static List<Object> summary(ChatCompletion answer) {
    return List.of(
        answer.model(),
        answer.usage().get().completionTokens(),
        answer.choices().get(0).finishReason().asString());
  }

  private Object chat() {
    ChatCompletion answer = whole(question(Client.PROMPT).build());
    ChatCompletion streamed = streamed(question(Client.PROMPT).build());
    boolean isSame = textOf(streamed).equals(textOf(answer)) && !textOf(answer).isEmpty();
    return List.of(summary(answer), summary(streamed), isSame);
  }

  private Object chatTools(Send send) {
    ChatCompletionCreateParams.Builder params = question(Client.TOOL_PROMPT).addTool(City.class);
    List<String> cities = new ArrayList<>();
    for (int turn = 0; turn < Client.MAX_TURNS; turn++) {
      ChatCompletion answer = send.send(params.build());
      ChatCompletion.Choice choice = answer.choices().get(0);
      List<ChatCompletionMessageToolCall> calls = choice.message().toolCalls().orElse(List.of());
      if (calls.isEmpty()) {
        return List.of(cities, choice.finishReason().asString(), Client.quotesRain(textOf(answer)));
      }
      params.addMessage(choice.message());
      for (ChatCompletionMessageToolCall call : calls) {
        String city = call.asFunction().function().arguments(City.class).city;
        cities.add(city);
        params.addMessage(
            ChatCompletionToolMessageParam.builder()
                .toolCallId(call.asFunction().id())
                .content(Client.rainIn(city))
                .build());
      }
    }
    throw new IllegalStateException("the loop did not end");
  }

  private Object chatObject() {
    var answer =
        client
            .chat()
            .completions()
            .create(question("A city").responseFormat(City.class).build())
            .validate();
    return !answer.choices().get(0).message().content().get().city.isEmpty();
  }

  private static Object refusal(BadRequestException error) {
    return Client.refused(
        error.type().get(),
        error.statusCode(),
        error.code().get(),
        error.param().get(),
        Client.memberOf(error.body().convert(Object.class), "did_you_mean"),
        Client.memberOf(error.body().convert(Object.class), "hint"));
  }

  private Object chatError() {
    try {
      return whole(question(Client.PROMPT).model(Client.NO_MODEL).build()).toString();
    } catch (BadRequestException error) {
      return refusal(error);
    }
  }

  private ResponseCreateParams.Builder input(String text) {
    return ResponseCreateParams.builder().model(all.model).input(text);
  }

  private Response streamed(ResponseCreateParams params) {
    ResponseAccumulator whole = ResponseAccumulator.create();
    try (StreamResponse<ResponseStreamEvent> stream = client.responses().createStreaming(params)) {
      stream.stream().forEach(event -> whole.accumulate(event.validate()));
    }
    return whole.response().validate();
  }

  private static String textOf(Response answer) {
    return answer.output().stream()
        .flatMap(item -> item.message().stream())
        .flatMap(message -> message.content().stream())
        .flatMap(content -> content.outputText().stream())
        .map(text -> text.text())
        .collect(Collectors.joining());
  }

  private static List<Object> summary(Response answer) {
    return List.of(
        answer.model().isChat() ? answer.model().asChat().asString() : answer.model().asString(),
        answer.usage().get().outputTokens(),
        answer.status().get().asString());
  }

  private Object responses() {
    Response answer = client.responses().create(input(Client.PROMPT).build()).validate();
    Response streamed = streamed(input(Client.PROMPT).build());
    boolean isSame = textOf(streamed).equals(textOf(answer)) && !textOf(answer).isEmpty();
    return List.of(summary(answer), summary(streamed), isSame);
  }

  /** Streams each turn, and sends the earlier turns back itself. */
  private Object responsesTools() throws Exception {
    List<ResponseInputItem> items = new ArrayList<>();
    items.add(
        ResponseInputItem.ofEasyInputMessage(
            EasyInputMessage.builder()
                .role(EasyInputMessage.Role.USER)
                .content(Client.TOOL_PROMPT)
                .build()));
    List<String> cities = new ArrayList<>();
    for (int turn = 0; turn < Client.MAX_TURNS; turn++) {
      Response answer =
          streamed(
              ResponseCreateParams.builder()
                  .model(all.model)
                  .inputOfResponse(items)
                  .addTool(City.class)
                  .build());
      int calls = 0;
      for (ResponseOutputItem item : answer.output()) {
        items.add(jsonMapper().convertValue(item, ResponseInputItem.class));
        if (!item.isFunctionCall()) continue;
        calls++;
        ResponseFunctionToolCall call = item.asFunctionCall();
        String city = call.arguments(City.class).city;
        cities.add(city);
        items.add(
            ResponseInputItem.ofFunctionCallOutput(
                ResponseInputItem.FunctionCallOutput.builder()
                    .callId(call.callId())
                    .output(Client.rainIn(city))
                    .build()));
      }
      if (calls == 0) {
        return List.of(
            cities, answer.status().get().asString(), Client.quotesRain(textOf(answer)));
      }
    }
    throw new IllegalStateException("the loop did not end");
  }

  /** Reads, continues and deletes a stored answer. */
  private Object responsesStored() {
    Response first = client.responses().create(input(Client.PROMPT).build()).validate();
    Response read = client.responses().retrieve(first.id()).validate();
    Response second =
        client
            .responses()
            .create(input(Client.PROMPT).previousResponseId(first.id()).build())
            .validate();
    client.responses().delete(first.id());
    boolean isSame = textOf(read).equals(textOf(first));
    boolean isEchoed = second.previousResponseId().get().equals(first.id());
    try {
      return client.responses().retrieve(first.id()).toString();
    } catch (NotFoundException error) {
      return List.of(isSame, isEchoed, error.statusCode());
    }
  }

  private Object responsesObject() {
    var answer = client.responses().create(input("A city").text(City.class).build());
    return answer.output().stream()
        .flatMap(item -> item.message().stream())
        .flatMap(message -> message.content().stream())
        .flatMap(content -> content.outputText().stream())
        .anyMatch(city -> !city.city.isEmpty());
  }

  private Object responsesError() {
    try {
      return client.responses().create(input(Client.PROMPT).model(Client.NO_MODEL).build());
    } catch (BadRequestException error) {
      return refusal(error);
    }
  }

  private Object embeddings() {
    var answer =
        client
            .embeddings()
            .create(
                EmbeddingCreateParams.builder()
                    .model("text-embedding-3-small")
                    .inputOfArrayOfStrings(List.of("a", "b"))
                    .build())
            .validate();
    return List.of(
        answer.data().size(),
        answer.data().get(1).embedding().size(),
        answer.usage().totalTokens());
  }

  private Object images() {
    var answer =
        client
            .images()
            .generate(
                ImageGenerateParams.builder()
                    .model("gpt-image-1")
                    .prompt("A lighthouse")
                    .size(ImageGenerateParams.Size._1024X1024)
                    .putAdditionalHeader("x-weir-image-response-format", "b64_json")
                    .build())
            .validate();
    return List.of(
        answer.data().get().size(), !answer.data().get().get(0).b64Json().get().isEmpty());
  }

  private Object models() {
    boolean isListed =
        client.models().list().autoPager().stream()
            .anyMatch(model -> model.validate().id().equals(all.model));
    return List.of(isListed, client.models().retrieve(all.model).validate().id());
  }

  private Object inputTokens() {
    try {
      return client
          .responses()
          .inputTokens()
          .count(InputTokenCountParams.builder().model(all.model).build());
    } catch (NotFoundException error) {
      String hint = Client.memberOf(error.body().convert(Object.class), "hint");
      return List.of(error.statusCode(), hint.contains("count_tokens"));
    }
  }

  private Object chatCut() {
    List<ChatCompletionChunk> chunks = new ArrayList<>();
    try (StreamResponse<ChatCompletionChunk> stream =
        client.chat().completions().createStreaming(question(Client.CUT_PROMPT).build())) {
      stream.stream().forEach(chunks::add);
      return List.of(!chunks.isEmpty(), false);
    } catch (OpenAIException error) {
      return List.of(!chunks.isEmpty(), true);
    }
  }

  private Object responsesCut() {
    List<ResponseStreamEvent> events = new ArrayList<>();
    try (StreamResponse<ResponseStreamEvent> stream =
        client.responses().createStreaming(input(Client.CUT_PROMPT).build())) {
      stream.stream().forEach(events::add);
      return List.of(!events.isEmpty(), false);
    } catch (OpenAIException error) {
      return List.of(!events.isEmpty(), true);
    }
  }
}
