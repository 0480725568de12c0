// Package webhook is the generator "webhook": it collects the admission webhooks
// that code declares by markers and writes them as one MutatingWebhookConfiguration
// and one ValidatingWebhookConfiguration.
//
//	// +kubebuilder:webhook:path=/validate-batch-v1-job,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch,resources=jobs,verbs=create;update,versions=v1,name=vjob.example.com,admissionReviewVersions=v1
//	// +kubebuilder:webhookconfiguration:mutating=false,name=job-checks
//
// The markers belong to a package: they stand alone in a file, not in the doc comment of a type or function. Webhooks
// are ordered by name. The argument patch= adds, by a strategic merge patch in JSON, fields for which the markers have
// no argument.
//
// The bytes are those that the loader's edition of controller-gen writes for the same markers, and what it refuses is a
// fatal finding here. All mistakes are reported, each with its marker's place. Two more sorts of mistakes are findings,
// which stop nothing. Controller-gen lets one sort pass, which every API server refuses: an operation or a failure
// policy that does not exist, two webhooks of one name. It passes over the other sort in silence, such as webhooks for
// two versions of a resource that are both called for each object.
package webhook
