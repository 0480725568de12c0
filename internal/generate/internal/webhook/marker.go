package webhook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"

	"github.com/slipway-dev/slipway/internal/generate/source"
)

const configurationMarker = "kubebuilder:webhookconfiguration"

// declaration is the value of a marker that declares a webhook.
type declaration source.Webhook

// configuration is the value of a marker that names the object which all
// webhooks of a sort are in.
type configuration struct {
	Mutating bool   `doc:"is true for the object with the mutating webhooks"`
	Name     string `marker:",optional" doc:"is the name of the object"`
}

// webhook is the webhook as the API has it; a validating one is that without a
// reinvocation policy. Problems that leave something out come with it.
func (d declaration) webhook() (admission.MutatingWebhook, []problem) {
	var problems []problem
	w := admission.MutatingWebhook{
		Name:                    d.Name,
		ClientConfig:            d.client(&problems),
		Rules:                   []admission.RuleWithOperations{d.rule(&problems)},
		FailurePolicy:           d.failurePolicy(&problems),
		MatchPolicy:             d.matchPolicy(&problems),
		SideEffects:             d.sideEffects(&problems),
		AdmissionReviewVersions: d.AdmissionReviewVersions,
		ReinvocationPolicy:      d.reinvocationPolicy(&problems),
	}
	if seconds := int32(d.TimeoutSeconds); d.TimeoutSeconds != 0 {
		w.TimeoutSeconds = &seconds
	}
	for _, version := range d.WebhookVersions {
		if version != "v1" {
			problems = append(problems, fatal("there is no version "+version+" of webhook configurations", "use webhookVersions=v1, or leave it out"))
		}
	}
	return w, problems
}

// rule says which requests the webhook is asked about.
func (d declaration) rule(problems *[]problem) admission.RuleWithOperations {
	rule := admission.RuleWithOperations{
		Rule:       admission.Rule{APIGroups: slices.Clone(d.Groups), APIVersions: d.Versions, Resources: d.Resources},
		Operations: make([]admission.OperationType, len(d.Verbs)),
	}
	for i, group := range rule.APIGroups {
		if group == "core" {
			rule.APIGroups[i] = ""
		}
	}
	for i, verb := range d.Verbs {
		operation, ok := known(verb, admission.Create, admission.Update, admission.Delete, admission.Connect, admission.OperationAll)
		if !ok {
			*problems = append(*problems, warning("unknown operation "+quoted(verb)+"; the API server refuses this", "use create, update, delete, connect or *"))
		}
		rule.Operations[i] = operation
	}
	return rule
}

// client says where the webhook is served: by a service or at a URL.
func (d declaration) client(problems *[]problem) admission.WebhookClientConfig {
	switch {
	case d.Path == "" && d.URL == "":
		*problems = append(*problems, fatal("needs path or url", "path=/… below the manager's service, or url=\"https://…\""))
	case d.Path != "" && d.URL != "":
		*problems = append(*problems, fatal("has both path and url", "path for the manager's service, url for any other server"))
	case d.URL != "":
		if d.ServiceName != "" || d.ServiceNamespace != "" || d.ServicePort != nil {
			*problems = append(*problems, warning("the service has no effect beside url", "remove serviceName, serviceNamespace and servicePort"))
		}
		return admission.WebhookClientConfig{URL: &d.URL}
	}
	return admission.WebhookClientConfig{Service: &admission.ServiceReference{
		Name:      cmp.Or(d.ServiceName, "webhook-service"),
		Namespace: cmp.Or(d.ServiceNamespace, "system"),
		Path:      &d.Path,
		Port:      d.ServicePort,
	}}
}

func (d declaration) failurePolicy(problems *[]problem) *admission.FailurePolicyType {
	policy, ok := known(d.FailurePolicy, admission.Ignore, admission.Fail)
	if !ok {
		*problems = append(*problems, warning("unknown failure policy "+quoted(d.FailurePolicy)+"; the API server refuses this", "use fail or ignore"))
	}
	return &policy
}

func (d declaration) matchPolicy(problems *[]problem) *admission.MatchPolicyType {
	if d.MatchPolicy == "" {
		return nil
	}
	policy, ok := known(d.MatchPolicy, admission.Exact, admission.Equivalent)
	if !ok {
		*problems = append(*problems, fatal("unknown match policy "+quoted(d.MatchPolicy), "use Exact or Equivalent"))
	}
	return &policy
}

// sideEffects is nil for what is no class; a check of the whole webhook tells it.
func (d declaration) sideEffects(problems *[]problem) *admission.SideEffectClass {
	class, ok := known(d.SideEffects, admission.SideEffectClassNone, admission.SideEffectClassNoneOnDryRun, admission.SideEffectClassSome)
	if ok {
		return &class
	}
	if d.SideEffects != "" {
		*problems = append(*problems, warning("sideEffects="+quoted(d.SideEffects)+" has no effect", "use None or NoneOnDryRun"))
	}
	return nil
}

func (d declaration) reinvocationPolicy(problems *[]problem) *admission.ReinvocationPolicyType {
	policy, ok := known(d.ReinvocationPolicy, admission.NeverReinvocationPolicy, admission.IfNeededReinvocationPolicy)
	switch {
	case d.ReinvocationPolicy == "":
		return nil
	case !d.Mutating:
		*problems = append(*problems, warning("reinvocationPolicy has no effect on a validating webhook", "remove it, or mutating=true"))
		return nil
	case !ok:
		*problems = append(*problems, warning("reinvocationPolicy="+quoted(d.ReinvocationPolicy)+" has no effect", "use Never or IfNeeded"))
		return nil
	}
	return &policy
}

// known is the value that is written like this but for the case of letters, or
// what is written and false.
func known[T ~string](written string, values ...T) (T, bool) {
	for _, value := range values {
		if strings.EqualFold(string(value), written) {
			return value, true
		}
	}
	return T(written), false
}

func quoted(text string) string { return fmt.Sprintf("%q", text) }
