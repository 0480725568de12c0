package ship

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
)

// noteGoing says of versions that a live definition serves, and another form of it does not, what that means: for
// objects that are stored in them, and for clients.
func (c *Cluster) noteGoing(definition, live *unstructured.Unstructured) {
	if live == nil {
		return
	}
	for _, text := range goingVersions(definition, live) {
		c.handler.Handle(report.Note{Text: nameOf(definition) + ": " + text})
	}
}

// goingVersions says whether the versions may go that a live definition serves and another form of it does not.
func goingVersions(definition, live *unstructured.Unstructured) (texts []string) {
	stored, _, _ := unstructured.NestedStringSlice(live.Object, "status", "storedVersions")
	for _, version := range versionsOf(live) {
		switch {
		case slices.Contains(versionsOf(definition), version):
		case versionOf(definition, version) != nil:
			texts = append(texts, version+" is not served any more, so clients that use it are refused; objects may stay stored in it")
		case slices.Contains(stored, version):
			texts = append(texts, version+" may go once no object is stored in it: all are stored as "+storageVersion(definition)+" first; clients that use "+version+" are refused")
		default:
			texts = append(texts, version+" may go: no object is stored in it; clients that use it are refused")
		}
	}
	return texts
}
