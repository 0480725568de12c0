package source

import (
	"bytes"
	"go/parser"
	"go/token"

	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
)

// WebhookMarker is the name of the markers that declare webhooks.
const WebhookMarker = "kubebuilder:webhook"

// Webhook is the value of a marker that declares a webhook.
type Webhook struct {
	Mutating                bool     `doc:"is true for a webhook that may change objects, and is called before the validating ones"`
	FailurePolicy           string   `doc:"is what happens when the webhook cannot be reached: fail or ignore"`
	MatchPolicy             string   `marker:",optional" doc:"is Exact, or Equivalent for requests by another version of the resource, too"`
	SideEffects             string   `marker:",optional" example:"None" doc:"is None, or NoneOnDryRun"`
	TimeoutSeconds          int      `marker:",optional" doc:"is how long the API server waits, 1 to 30; 10 if it is left out"`
	Groups                  []string `doc:"are API groups, core among them, or *"`
	Resources               []string `doc:"are resources of these groups, or *"`
	Verbs                   []string `doc:"are create, update, delete, connect, or *"`
	Versions                []string `doc:"are versions of the groups, or *"`
	Name                    string   `doc:"is the webhook's name, with three parts at least"`
	ServiceName             string   `marker:",optional" doc:"is the service in front of the manager; webhook-service if it is left out"`
	ServiceNamespace        string   `marker:",optional" doc:"is the service's namespace; system if it is left out"`
	Path                    string   `marker:",optional" doc:"is where the manager serves it, like /validate-batch-example-com-v1-cronjob"`
	ServicePort             *int32   `doc:"is the service's port; 443 if it is left out"`
	WebhookVersions         []string `marker:",optional" doc:"are the versions of the configuration objects; there is v1 only"`
	AdmissionReviewVersions []string `example:"v1" doc:"are the versions of AdmissionReview that the webhook reads, the best first"`
	ReinvocationPolicy      string   `marker:",optional" doc:"is Never, or IfNeeded for a mutating webhook to be called again after others"`
	URL                     string   `marker:"url,optional" doc:"is where the webhook is served instead of a path of the service; in quotes"`
	Patch                   string   `marker:",optional" doc:"is a strategic merge patch for what has no argument, as JSON between backticks"`
}

// WebhookDefinition is the marker of a webhook.
func WebhookDefinition() marker.Definition {
	return marker.Define[Webhook](WebhookMarker, marker.Package, "declares an admission webhook that the manager serves")
}

// Webhooks are those that a Go file declares, in the order of its lines. Markers with mistakes and files that do not
// parse count as far as they can be read: what is wrong with them is reported by the generator.
func Webhooks(name string, text []byte) []Marked[Webhook] {
	return packageMarkers[Webhook](name, text, WebhookDefinition())
}

// Marked is the value of a marker of a package, with the line of the marker.
type Marked[T any] struct {
	Value T
	Line  int
}

// packageMarkers are the markers of a definition in a Go file.
func packageMarkers[T any](name string, text []byte, of marker.Definition) (all []Marked[T]) {
	if !bytes.Contains(text, []byte("+"+of.Name)) {
		return nil
	}
	registry, err := marker.NewRegistry(of)
	if err != nil {
		panic(err) // the definition is wrong
	}
	fset := token.NewFileSet()
	syntax, _ := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if syntax == nil {
		return nil
	}
	for _, comment := range marker.Attach(syntax, registry).Package {
		if read, ok := registry.Read(comment, marker.Package); ok {
			if value, ok := read.(T); ok {
				all = append(all, Marked[T]{value, fset.Position(comment.Pos).Line})
			}
		}
	}
	return all
}
