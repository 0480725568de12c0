package ship

import (
	"slices"
	"testing"
)

// TestLongWorkBegins: what takes seconds where definitions are large begins with a step, whose progress is shown while
// it goes on.
func TestLongWorkBegins(t *testing.T) {
	c, events := connect(t)
	var begun []string
	events.step = func(name string) { begun = append(begun, name) }
	set := &Set{Project: "progress", Namespace: "default"}
	text := definition("progress.example.com", "long")
	remove(t, c, text)
	if err := c.Apply(t.Context(), objects(t, text), ApplyOptions{Set: set}); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), objects(t, text), DeleteOptions{Set: set}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"comparing with what the cluster has", "trying the objects on the server", "waiting until the API server serves the definitions",
		"looking for what is to be deleted, and who uses it", "asking the server to delete the objects",
	} {
		if !slices.Contains(begun, want) {
			t.Errorf("the steps are %q, without %q", begun, want)
		}
	}
}
