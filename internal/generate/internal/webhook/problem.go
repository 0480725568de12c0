package webhook

import (
	"go/token"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/report"
)

// problem is what is wrong with one marker.
type problem struct {
	message, suggestion string
	fatal               bool
}

func fatal(message, suggestion string) problem { return problem{message, suggestion, true} }

func warning(message, suggestion string) problem { return problem{message, suggestion, false} }

// tell reports problems of the marker at pos.
func tell(pass *generator.Pass, name string, pos token.Pos, problems ...problem) {
	for _, p := range problems {
		pass.Report(report.Finding{
			Rule:       report.RuleWebhookMarker,
			Position:   pass.Loader.Position(pos),
			Message:    "+" + name + ": " + p.message,
			Suggestion: p.suggestion,
			Fatal:      p.fatal,
		})
	}
}

// check tells what version v1 of the API asks of a webhook that the markers do
// not settle by themselves.
func check(w admission.MutatingWebhook) []problem {
	var problems []problem
	const classes = "None, or NoneOnDryRun for a webhook that looks at dryRun"
	switch {
	case w.SideEffects == nil:
		problems = append(problems, fatal("needs sideEffects", classes))
	case *w.SideEffects == admission.SideEffectClassSome || *w.SideEffects == admission.SideEffectClassUnknown:
		problems = append(problems, fatal("sideEffects cannot be "+string(*w.SideEffects)+" in version v1", classes))
	}
	if t := w.TimeoutSeconds; t != nil && (*t < 1 || *t > 30) {
		problems = append(problems, fatal("timeoutSeconds is out of bounds", "use 1 to 30"))
	}
	if len(w.AdmissionReviewVersions) == 0 {
		problems = append(problems, fatal("admissionReviewVersions is empty", "admissionReviewVersions=v1"))
	}
	if strings.Count(w.Name, ".") < 2 {
		problems = append(problems, warning("the name "+quoted(w.Name)+" has fewer than three parts; the API server refuses this", "use a name like vkind.example.com"))
	}
	return problems
}
