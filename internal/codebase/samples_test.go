package codebase

import (
	"os"
	"slices"
	"testing"
	"testing/fstest"
)

// TestSampleObjects: samples are what their kustomizations make of them, and what each file has. A file that does not
// build hides none of the others.
func TestSampleObjects(t *testing.T) {
	boat := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("apiVersion: sea.example.com/v1\nkind: Boat\nmetadata: {name: " + name + "}\n")}
	}
	files := fstest.MapFS{
		"config/samples/kustomization.yml":      {Data: []byte("namePrefix: dev-\nnamespace: sea\nresources: [boat.yaml, v2]\n")},
		"config/samples/boat.yaml":              boat("one"),
		"config/samples/other.yaml":             boat("two"),
		"config/samples/broken.yaml":            {Data: []byte("kind: [")},
		"config/samples/v2/Kustomization":       {Data: []byte("resources: [boat.yaml]\n")},
		"config/samples/v2/boat.yaml":           boat("three"),
		"config/samples/plain/boat.yaml":        boat("four"),
		"config/samples/far/fetched.yaml":       boat("five"),
		"config/samples/far/kustomization.yaml": {Data: []byte("resources: [\"https://example.com/a.yaml\"]\n")},
		"config/default/kustomization.yaml":     {Data: []byte("resources: [boat.yaml]\n")},
		"config/default/boat.yaml":              boat("deployed"),
	}
	var names []string
	for _, object := range Read(files, os.Getenv).SampleObjects(t.Context()) {
		names = append(names, object.GetNamespace()+"/"+object.GetName())
	}
	slices.Sort(names)
	want := []string{"/five", "/four", "/one", "/three", "/two", "sea/dev-one", "sea/dev-three"}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}
