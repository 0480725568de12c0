package ship

import (
	"context"
	"slices"
	"testing"
)

const makingNamespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: making}"

// TestWhatProgramsMakeGoes: an object that a set's programs make does not have the user asked, and the user's own does.
func TestWhatProgramsMakeGoes(t *testing.T) {
	c, _ := connect(t)
	set := &Set{Project: "making", Namespace: "default", Makes: []string{"secret/making/made"}}
	secret := func(name string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + ", namespace: making}"
	}
	if err := c.Apply(t.Context(), objects(t, makingNamespace), ApplyOptions{Set: set}); err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), objects(t, secret("made")+"\n---\n"+secret("users")), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	var asked []string
	o := DeleteOptions{Set: set, Consent: func(_ context.Context, question string) (bool, error) {
		asked = append(asked, question)
		return false, nil
	}}
	if err := c.Delete(t.Context(), nil, o); err != nil {
		t.Fatal(err)
	}
	const want = "this deletes objects that others use:\n  namespace/making with secret/making/users\nDelete all of it? [y/n]"
	if !slices.Equal(asked, []string{want}) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	if err := c.Delete(t.Context(), objects(t, secret("users")), DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	asked = nil
	if err := c.Delete(t.Context(), nil, o); err != nil {
		t.Fatal(err)
	}
	if len(asked) > 0 || at(t, c, makingNamespace) != nil {
		t.Errorf("asked %q, and the namespace is %v", asked, at(t, c, makingNamespace))
	}
}
