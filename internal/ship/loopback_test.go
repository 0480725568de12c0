package ship

import (
	"slices"
	"testing"
)

func TestLoopbackImages(t *testing.T) {
	manifests := objects(t, `apiVersion: apps/v1
kind: Deployment
metadata: {name: op}
spec:
  template:
    spec:
      initContainers: [{name: first, image: "127.0.0.1:5001/first:v1"}]
      containers:
      - {name: manager, image: "localhost:5001/op:v1"}
      - {name: again, image: "localhost:5001/op:v1"}
      - {name: far, image: "registry.example.com/localhost:v1"}
      - {name: plain, image: "controller:latest"}
      - {name: odd, image: "No Name"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {image: "localhost:5001/no:v1"}`)
	if got, want := loopbackImages(manifests), []string{"127.0.0.1:5001/first:v1", "localhost:5001/op:v1"}; !slices.Equal(got, want) {
		t.Errorf("found %q, not %q", got, want)
	}
}

// TestLoopbackIsKnown: an embedded cluster's nodes find this machine's registries, so nobody is warned.
func TestLoopbackIsKnown(t *testing.T) {
	c, _ := connect(t)
	if !c.knowsThisMachine(t.Context()) {
		t.Error("an embedded cluster is taken for another one")
	}
}
