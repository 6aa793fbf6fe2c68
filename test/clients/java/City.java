import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonTypeName;

/** Both the arguments of the tool `weather` and the object that a model returns. */
@JsonTypeName("weather")
@JsonClassDescription("A city")
public class City {
  public String city;
}
