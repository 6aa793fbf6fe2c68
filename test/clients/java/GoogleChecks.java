import com.google.genai.Chat;
import com.google.genai.ResponseStream;
import com.google.genai.errors.ApiException;
import com.google.genai.errors.ClientException;
import com.google.genai.types.Content;
import com.google.genai.types.FunctionCall;
import com.google.genai.types.FunctionDeclaration;
import com.google.genai.types.FunctionResponse;
import com.google.genai.types.GenerateContentConfig;
import com.google.genai.types.GenerateContentResponse;
import com.google.genai.types.HttpOptions;
import com.google.genai.types.Part;
import com.google.genai.types.Schema;
import com.google.genai.types.Tool;
import com.google.genai.types.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

public final class GoogleChecks {
  private static final int CHAT_TURNS = 3;

  /** The types of Google's own schemas have upper-case names. */
  private static final Schema CITY =
      Schema.builder()
          .type(Type.Known.OBJECT)
          .properties(Map.of("city", Schema.builder().type(Type.Known.STRING).build()))
          .required("city")
          .build();

  /** The cities that the package asked the tool for. */
  private static final List<String> ASKED = new ArrayList<>();

  private final Client all;
  private final com.google.genai.Client client;

  GoogleChecks(Client all) {
    this.all = all;
    client =
        com.google.genai.Client.builder()
            .apiKey(all.key)
            .vertexAI(false)
            .httpOptions(HttpOptions.builder().baseUrl(all.base).build())
            .build();
  }

  void run() {
    all.check("google content", this::content);
    all.check("google tools", () -> tools(this::whole));
    all.check("google tools streamed", () -> tools(this::streamed));
    all.check("google functions", this::functions);
    all.check("google chat", this::chat);
    all.check("google chat streamed", this::chatStreamed);
    all.check("google object", this::object);
    all.check("google count", this::count);
    all.check("google models", this::models);
    all.check("google embeddings", this::embeddings);
    all.check("google error", () -> refusal(() -> client.models.generateContent(Client.NO_MODEL, Client.PROMPT, null)));
    all.check("google stream error", () -> refusal(() -> client.models.generateContentStream(Client.NO_MODEL, Client.PROMPT, null)));
    all.check("google count error", () -> refusal(() -> client.models.countTokens(Client.NO_MODEL, Client.PROMPT, null)));
    all.check("google cut", this::cut);
  }

  /** One turn of a model: its text, and its parts. */
  private record Turn(String text, List<Part> parts, GenerateContentResponse last) {}

  private interface Send {
    Turn send(List<Content> contents, GenerateContentConfig config);
  }

  private static List<Content> said(String text) {
    return new ArrayList<>(List.of(Content.builder().role("user").parts(Part.fromText(text)).build()));
  }

  private static List<Part> partsOf(GenerateContentResponse answer) {
    return answer.candidates().get().get(0).content().get().parts().get();
  }

  private Turn whole(List<Content> contents, GenerateContentConfig config) {
    GenerateContentResponse answer = client.models.generateContent(all.model, contents, config);
    return new Turn(String.valueOf(answer.text()), partsOf(answer), answer);
  }

  /** Adds up the text of each chunk: the package returns null for a chunk without text parts. */
  private Turn streamed(List<Content> contents, GenerateContentConfig config) {
    StringBuilder text = new StringBuilder();
    List<Part> parts = new ArrayList<>();
    GenerateContentResponse last = null;
    try (ResponseStream<GenerateContentResponse> stream =
        client.models.generateContentStream(all.model, contents, config)) {
      for (GenerateContentResponse chunk : stream) {
        text.append(chunk.text());
        parts.addAll(partsOf(chunk));
        last = chunk;
      }
    }
    return new Turn(text.toString(), parts, last);
  }

  private static List<Object> summary(GenerateContentResponse answer) {
    return List.of(
        answer.modelVersion().get(),
        answer.usageMetadata().get().candidatesTokenCount().get(),
        answer.candidates().get().get(0).finishReason().get().toString());
  }

  private Object content() {
    Turn answer = whole(said(Client.PROMPT), null);
    Turn streamed = streamed(said(Client.PROMPT), null);
    boolean isSame = streamed.text().equals(answer.text()) && !answer.text().isEmpty();
    return List.of(summary(answer.last()), summary(streamed.last()), isSame);
  }

  /** Sends each turn back with all parts of its chunks, also with the empty ones. */
  private Object tools(Send send) {
    GenerateContentConfig config =
        GenerateContentConfig.builder()
            .tools(
                Tool.builder()
                    .functionDeclarations(
                        FunctionDeclaration.builder().name("weather").parameters(CITY).build())
                    .build())
            .build();
    List<Content> contents = said(Client.TOOL_PROMPT);
    List<String> cities = new ArrayList<>();
    for (int at = 0; at < Client.MAX_TURNS; at++) {
      Turn turn = send.send(contents, config);
      contents.add(Content.builder().role("model").parts(turn.parts()).build());
      List<Part> results = new ArrayList<>();
      for (Part part : turn.parts()) {
        if (part.functionCall().isEmpty()) continue;
        FunctionCall call = part.functionCall().get();
        String city = String.valueOf(call.args().get().get("city"));
        cities.add(city);
        FunctionResponse.Builder result =
            FunctionResponse.builder()
                .name("weather")
                .response(Map.of("output", Client.rainIn(city)));
        call.id().ifPresent(result::id);
        results.add(Part.builder().functionResponse(result.build()).build());
      }
      if (results.isEmpty()) return List.of(cities, Client.quotesRain(turn.text()));
      contents.add(Content.builder().role("user").parts(results).build());
    }
    throw new IllegalStateException("the loop did not end");
  }

  /** The package calls this method by itself. It finds the parameter by its name. */
  public static String weather(String city) {
    ASKED.add(city);
    return Client.rainIn(city);
  }

  private Object functions() throws Exception {
    GenerateContentConfig config =
        GenerateContentConfig.builder()
            .tools(
                Tool.builder()
                    .functions(GoogleChecks.class.getMethod("weather", String.class))
                    .build())
            .build();
    GenerateContentResponse answer =
        client.models.generateContent(all.model, Client.TOOL_PROMPT, config);
    return List.of(ASKED, Client.quotesRain(answer.text()));
  }

  private interface Talk {
    /** Sends one message. Returns the tokens of the prompt, with all earlier turns. */
    int send(Chat chat);
  }

  private Object chat() {
    return chatWith(
        chat -> chat.sendMessage(Client.PROMPT).usageMetadata().get().promptTokenCount().get());
  }

  private Object chatStreamed() {
    return chatWith(
        chat -> {
          int counted = 0;
          for (GenerateContentResponse chunk : chat.sendMessageStream(Client.PROMPT)) {
            counted =
                chunk.usageMetadata().flatMap(usage -> usage.promptTokenCount()).orElse(counted);
          }
          return counted;
        });
  }

  /** Counts the turns that the package keeps. The tokens of the prompt must grow with each turn. */
  private Object chatWith(Talk talk) {
    Chat chat = client.chats.create(all.model);
    boolean grows = true;
    int before = 0;
    for (int at = 0; at < CHAT_TURNS; at++) {
      int counted = talk.send(chat);
      grows = grows && counted > before;
      before = counted;
    }
    int turns = 0;
    String role = "";
    for (Object each : chat.getHistory(true)) {
      String next = ((Content) each).role().get();
      if (!next.equals(role)) turns++;
      role = next;
    }
    return List.of(turns, grows);
  }

  private Object object() throws Exception {
    Object inJson =
        Map.of("type", "object", "properties", Map.of("city", Map.of("type", "string")));
    List<Object> named = new ArrayList<>();
    for (GenerateContentConfig.Builder config :
        List.of(
            GenerateContentConfig.builder().responseSchema(CITY),
            GenerateContentConfig.builder().responseJsonSchema(inJson))) {
      Turn answer = whole(said("A city"), config.responseMimeType("application/json").build());
      named.add(!Client.cityOf(answer.text()).isEmpty());
    }
    return named;
  }

  private Object count() {
    return client.models.countTokens(all.model, Client.PROMPT, null).totalTokens().get() > 0;
  }

  private Object models() {
    boolean isListed = false;
    for (var model : client.models.list(com.google.genai.types.ListModelsConfig.builder().build())) {
      isListed = isListed || model.name().get().equals("models/" + all.model);
    }
    return List.of(isListed, client.models.get(all.model, null).name().get());
  }

  private Object embeddings() {
    try {
      return client.models.embedContent(all.model, "a", null).toString();
    } catch (ClientException error) {
      return List.of(error.code(), error.status(), error.message().contains("/v1/embeddings"));
    }
  }

  /** The package shows status, code and message of an error, and no details. */
  private static Object refusal(Client.Check call) throws Exception {
    try {
      return String.valueOf(call.run());
    } catch (ClientException error) {
      return List.of(error.code(), error.status(), error.message().contains("gpt-4o"));
    }
  }

  private Object cut() {
    List<GenerateContentResponse> chunks = new ArrayList<>();
    try (ResponseStream<GenerateContentResponse> stream =
        client.models.generateContentStream(all.model, Client.CUT_PROMPT, null)) {
      stream.forEach(chunks::add);
      return List.of(!chunks.isEmpty(), false);
    } catch (ApiException error) {
      return List.of(!chunks.isEmpty(), true);
    }
  }
}
