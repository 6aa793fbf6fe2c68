import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The Java packages of OpenAI, Anthropic and Google against a Weir: Client BASE KEY MODEL. It prints what
 * the packages decoded, as JSON. Each package validates each answer.
 */
public final class Client {
  static final String PROMPT = "Hello [[sim tokens=12]]";

  /** The directive of the simulator that ends a stream in its middle. */
  static final String CUT_PROMPT = "Hello [[sim tokens=40 truncate_after=8]]";

  /** A script of the simulator: two calls of a tool, one after another. */
  static final String TOOL_PROMPT =
      "The weather? [[call weather {\"city\":\"Oslo\"}]] [[call weather {\"city\":\"Rome\"}]]";

  /** A model that does not exist, whose name is nearly right. */
  static final String NO_MODEL = "gpt-4o-minni";

  static final int MAX_TURNS = 6;

  private static final ObjectMapper JSON = new ObjectMapper();

  final String base;
  final String key;
  final String model;
  private final Map<String, Object> found = new LinkedHashMap<>();

  private Client(String base, String key, String model) {
    this.base = base;
    this.key = key;
    this.model = model;
  }

  public static void main(String[] arguments) throws Exception {
    Client client = new Client(arguments[0], arguments[1], arguments[2]);
    new OpenAIChecks(client).run();
    new AnthropicChecks(client).run();
    new GoogleChecks(client).run();
    System.out.println(JSON.writeValueAsString(client.found));
    // The HTTP clients keep threads alive.
    System.exit(0);
  }

  /** A call of a package. It returns what the package decoded. */
  interface Check {
    Object run() throws Exception;
  }

  /** Notes what a call returns, or what it throws. */
  void check(String name, Check check) {
    try {
      found.put(name, check.run());
    } catch (Throwable failure) {
      found.put(name, "error: " + failure + at(failure));
    }
  }

  private static String at(Throwable failure) {
    for (StackTraceElement element : failure.getStackTrace()) {
      if (element.getFileName() != null && element.getFileName().endsWith("Checks.java")) {
        return " at " + element.getFileName() + ":" + element.getLineNumber();
      }
    }
    return "";
  }

  static String rainIn(String city) {
    return "Rain in " + city;
  }

  static boolean quotesRain(String text) {
    return text.contains(rainIn("Rome"));
  }

  static String cityOf(String json) throws Exception {
    return JSON.readTree(json).get("city").asText();
  }

  /** Returns a member of an error, by its path in the JSON. */
  static String memberOf(Object json, String... path) {
    var node = JSON.valueToTree(json);
    for (String name : path) node = node.path(name);
    return ((com.fasterxml.jackson.databind.JsonNode) node).asText();
  }

  static List<Object> refused(Object type, int status, String code, String param, String meant, String hint) {
    return List.of(type, status, code, param, meant, hint.contains("GET /v1/models"));
  }
}
