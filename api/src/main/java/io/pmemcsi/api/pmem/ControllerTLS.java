package io.pmemcsi.api.pmem;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Certificates of the controller that the operator issues by itself and renews in time. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value = PmemCSIDeploymentChecks.RENEWAL_CEL,
    message = PmemCSIDeploymentChecks.RENEWAL)
public record ControllerTLS(
    @JsonPropertyDescription(
            "Whether the operator issues the controller's certificates. With true it creates a"
                + " certificate authority and a server certificate, stores them in a secret, starts"
                + " the controller with them and renews them before they expire. Default: false.")
        @Nullable Boolean managed,
    @Min(2)
        @Max(3650)
        @JsonPropertyDescription("For how many days a new certificate is valid. Default: 365.")
        @Nullable Integer validityDays,
    @Min(1)
        @Max(3649)
        @JsonPropertyDescription(
            "How many days before its end a certificate is renewed. Must be less than"
                + " validityDays. Default: one third of validityDays.")
        @Nullable Integer renewBeforeDays,
    @Size(max = 64)
        @JsonPropertyDescription(
            "Host names and IP addresses by which the controller is called, in addition to the"
                + " names of its services and 127.0.0.1, for example those of a load balancer."
                + " Default: none.")
        @Nullable List<@Pattern(HostName.PATTERN) String> extraNames) {

  private static final int DEFAULT_VALIDITY_DAYS = 365;

  public ControllerTLS {
    extraNames = extraNames == null ? null : List.copyOf(extraNames);
  }

  /** Whether the operator issues the certificates. */
  public boolean operatorIssues() {
    return Boolean.TRUE.equals(managed);
  }

  public int validityDaysOrDefault() {
    return validityDays == null ? DEFAULT_VALIDITY_DAYS : validityDays;
  }

  public int renewBeforeDaysOrDefault() {
    return renewBeforeDays == null ? Math.max(1, validityDaysOrDefault() / 3) : renewBeforeDays;
  }

  public List<String> extraNamesOrNone() {
    return extraNames == null ? List.of() : extraNames;
  }
}
