package webhook

import (
	"slices"

	admission "k8s.io/api/admissionregistration/v1"

	"github.com/slipway-dev/slipway/internal/generate/source"
)

// reportVersions warns of webhooks for two versions of a resource. With matchPolicy Equivalent, the default, the API
// server converts an object to the version of each webhook, and calls all of them, whatever version a request has. Each
// is reported: `create webhook` shows those in its new file.
func (c *collector) reportVersions(o *object) {
	for _, w := range o.webhooks {
		other := slices.IndexFunc(o.webhooks, func(other webhook) bool { return calledWith(w, other) })
		if other < 0 {
			continue
		}
		tell(c.pass, source.WebhookMarker, w.pos, warning(
			"the API server calls this webhook and the one at "+c.pass.Loader.ShortPosition(o.webhooks[other].pos).String()+" for the same objects: matchPolicy Equivalent, the default, includes requests by other versions",
			"keep the marker of one version, which then serves all of them; or add matchPolicy=Exact to both"))
	}
}

// calledWith reports whether the API server calls two webhooks for an object, though they are for different versions of
// its resource. Webhooks that select objects are taken to select different ones.
func calledWith(a, b webhook) bool {
	if exact(a) && exact(b) || selects(a) || selects(b) {
		return false
	}
	return slices.ContainsFunc(a.Rules, func(one admission.RuleWithOperations) bool {
		return slices.ContainsFunc(b.Rules, func(other admission.RuleWithOperations) bool {
			return share(one.APIGroups, other.APIGroups) && share(one.Resources, other.Resources) && !share(one.APIVersions, other.APIVersions) &&
				share(one.Operations, other.Operations)
		})
	})
}

func exact(w webhook) bool { return w.MatchPolicy != nil && *w.MatchPolicy == admission.Exact }

func selects(w webhook) bool {
	return w.ObjectSelector != nil || w.NamespaceSelector != nil || len(w.MatchConditions) > 0
}

// share reports whether two lists of a rule match the same value.
func share[T ~string](a, b []T) bool {
	return slices.ContainsFunc(a, func(value T) bool { return value == "*" || slices.Contains(b, value) }) || slices.Contains(b, "*")
}
