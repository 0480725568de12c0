package authorship

import (
	"context"
	"encoding/json"
	"strings"

	"k8s.io/apiserver/pkg/admission"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// Admission is an admission.DecoratorFunc. It notes which plugin has denied a request, and what plugins that ask
// webhooks and policies report of them in annotations for audit.
func Admission(plugin admission.Interface, name string) admission.Interface {
	return overheard{plugin, name}
}

type overheard struct {
	admission.Interface
	name string
}

// Admit has the plugin change a request.
func (o overheard) Admit(ctx context.Context, a admission.Attributes, i admission.ObjectInterfaces) error {
	plugin, ok := o.Interface.(admission.MutationInterface)
	if !ok {
		return nil
	}
	return o.note(ctx, a, plugin.Admit(ctx, attributes{a, ctx, o.name}, i))
}

// Validate has the plugin judge a request.
func (o overheard) Validate(ctx context.Context, a admission.Attributes, i admission.ObjectInterfaces) error {
	plugin, ok := o.Interface.(admission.ValidationInterface)
	if !ok {
		return nil
	}
	return o.note(ctx, a, plugin.Validate(ctx, attributes{a, ctx, o.name}, i))
}

func (o overheard) note(ctx context.Context, a admission.Attributes, err error) error {
	if err != nil {
		decide(ctx, a, protocol.RecordDecision{Plugin: o.name, Effect: "denied", Text: err.Error()})
	}
	return err
}

// attributes are those of a request, with annotations that are overheard.
type attributes struct {
	admission.Attributes
	ctx  context.Context
	name string
}

// AddAnnotation is called with the annotations of audit's lowest level. Messages of policies may have content of
// objects.
func (a attributes) AddAnnotation(key, value string) error {
	if effect, text := effectOf(key, value); effect != "" {
		decide(a.ctx, a, protocol.RecordDecision{Plugin: a.name, Effect: effect, Text: text})
	}
	return a.Attributes.AddAnnotation(key, value)
}

// effectOf reads the annotations of k8s.io/apiserver/pkg/admission/plugin/webhook and policy. Those that webhooks add
// themselves are not read.
func effectOf(key, value string) (effect, text string) {
	switch {
	case strings.HasPrefix(key, "failed-open."):
		return "failed open", value
	case strings.HasPrefix(key, "mutation.webhook.admission.k8s.io/"):
		var done struct {
			Webhook string
			Mutated bool
		}
		if json.Unmarshal([]byte(value), &done) == nil && done.Mutated {
			return "mutated", done.Webhook
		}
	case key == "validation.policy.admission.k8s.io/validation_failure":
		return "violated", value
	}
	return "", ""
}
