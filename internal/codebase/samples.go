package codebase

import (
	"context"
	"path"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/kustomization"
)

const (
	mostSamples   = 1000
	samplesFolder = "config"
)

// Samples returns the manifests in folders such as config/samples, and in those below.
func (c *Codebase) Samples() (files []string) {
	entries, err := c.view.ReadDir(samplesFolder)
	if err != nil {
		return nil // there is no config folder
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() && IsSamples(e.Name()) {
			folders = append(folders, path.Join(samplesFolder, e.Name()))
		}
	}
	return c.manifestsBelow(folders)
}

// Examples returns the manifests in folders such as examples and docs/samples, and in those below.
func (c *Codebase) Examples() []string {
	var folders []string
	for _, above := range []string{".", "docs"} {
		entries, err := c.view.ReadDir(above)
		if err != nil {
			continue // there is no such folder
		}
		for _, e := range entries {
			if name := strings.TrimSuffix(e.Name(), "s"); e.IsDir() && (name == "example" || name == "sample") {
				folders = append(folders, path.Join(above, e.Name()))
			}
		}
	}
	return c.manifestsBelow(folders)
}

// manifestsBelow returns the manifests in folders, and in those below.
func (c *Codebase) manifestsBelow(folders []string) (files []string) {
	for i := 0; i < len(folders) && len(folders)+len(files) < mostSamples; i++ {
		entries, err := c.view.ReadDir(folders[i])
		if err != nil {
			continue // an unreadable folder has no samples
		}
		for _, e := range entries {
			name := path.Join(folders[i], e.Name())
			extension := path.Ext(e.Name())
			switch {
			case e.IsDir():
				folders = append(folders, name)
			case (extension == ".yaml" || extension == ".yml") && !strings.HasPrefix(strings.ToLower(e.Name()), "kustomization."):
				files = append(files, name)
			}
		}
	}
	return files
}

// SampleObjects returns the objects that users can apply: those that each samples folder builds (`kubectl apply -k`)
// and those of each file (`kubectl apply -f`), each once. What does not build offline is left out.
func (c *Codebase) SampleObjects(ctx context.Context) (objects []*unstructured.Unstructured) {
	build := func(view fileview.View, folder string) {
		built, err := kustomization.BuildView(ctx, view, folder, func(_ string, text []byte) ([]byte, error) { return text, nil })
		if err != nil {
			return
		}
		for _, o := range built {
			if !slices.ContainsFunc(objects, func(other *unstructured.Unstructured) bool { return reflect.DeepEqual(other.Object, o.Object) }) {
				objects = append(objects, o)
			}
		}
	}
	files := c.Samples()
	var folders []string
	for _, file := range files {
		for dir := path.Dir(file); dir != samplesFolder; dir = path.Dir(dir) {
			if !slices.Contains(folders, dir) && c.Kustomization(dir) != "" {
				folders = append(folders, dir)
			}
		}
	}
	for _, folder := range folders {
		build(c.view, folder)
	}
	for _, file := range files {
		build(c.viewListingOnly(file), path.Dir(file))
	}
	return objects
}

// viewListingOnly returns a view in which the kustomization of a file's folder lists only that file.
func (c *Codebase) viewListingOnly(file string) fileview.View {
	others, dir := map[string][]byte{}, path.Dir(file)
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		others[path.Join(dir, name)] = nil
	}
	list, err := yaml.Marshal(map[string][]string{"resources": {path.Base(file)}})
	if err != nil { // strings always marshal
		panic(err)
	}
	others[path.Join(dir, konfig.DefaultKustomizationFileName())] = list
	return fileview.Over(c.view, others)
}
