package ship

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestSamples: an object is a sample if kubectl applied the sample, in its namespace or that of the kubeconfig.
func TestSamples(t *testing.T) {
	c := &Cluster{namespace: "default"}
	sample := func(place, content string) string {
		return "apiVersion: a.example.com/v1\nkind: Boat\nmetadata: {name: sample" + place + "}\n" + content
	}
	const spec, applied = "spec: {oars: 2}", `{"apiVersion":"a.example.com/v1","kind":"Boat","metadata":{"name":"sample"},"spec":{"oars":2}}`
	for name, test := range map[string]struct {
		sample, object, applied string
		want                    bool
	}{
		"applied":                 {sample("", spec), sample(", namespace: default", spec), applied, true},
		"defaults":                {sample("", spec), sample(", namespace: default", "spec: {oars: 2, sails: 0}"), applied, true},
		"cluster-scoped":          {sample("", spec), sample("", spec), applied, true},
		"its namespace":           {sample(", namespace: sea", spec), sample(", namespace: sea", spec), applied, true},
		"another namespace":       {sample("", spec), sample(", namespace: sea", spec), applied, false},
		"not in its namespace":    {sample(", namespace: sea", spec), sample(", namespace: default", spec), applied, false},
		"other content":           {sample("", "spec: {oars: 3}"), sample(", namespace: default", spec), applied, false},
		"no content":              {sample("", ""), sample(", namespace: default", spec), applied, false},
		"not applied":             {sample("", spec), sample(", namespace: default", spec), "", false},
		"an unreadable manifest":  {sample("", spec), sample(", namespace: default", spec), "{", false},
		"a manifest that is null": {sample("", spec), sample(", namespace: default", spec), "null", false},
	} {
		t.Run(name, func(t *testing.T) {
			object := objects(t, test.object)[0]
			if test.applied != "" {
				object.SetAnnotations(map[string]string{corev1.LastAppliedConfigAnnotation: test.applied})
			}
			if got := c.isSample(object, &Set{Samples: objects(t, test.sample)}); got != test.want {
				t.Errorf("is a sample: %v, want %v", got, test.want)
			}
		})
	}
}
