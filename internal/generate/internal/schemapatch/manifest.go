package schemapatch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/yamlsize"
)

// manifest is a file with a definition.
type manifest struct {
	path        string
	document    *yaml.Node
	group, kind string
	versions    []string
}

// readFolder reads the definitions in a folder; files that hold none are left out.
func readFolder(pass *generator.Pass, dir string) ([]*manifest, error) {
	if dir != "" && !filepath.IsAbs(dir) {
		dir = filepath.Join(pass.Dir, dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, &report.Error{What: "cannot read the folder with the CRDs", Where: "schemapatch:manifests", Err: err, Hint: "schemapatch:manifests=FOLDER"}
	}
	var files []*manifest
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".yaml" {
			continue
		}
		path := filepath.Join(dir, e.Name())
		data, err := pass.Loader.ReadFile(path)
		if err != nil {
			return nil, &report.Error{Class: report.BadProject, What: "the manifest cannot be read", Where: path, Err: err}
		}
		f, finding := parse(path, data)
		if finding != nil {
			pass.Report(*finding)
		}
		if f != nil {
			files = append(files, f)
		}
	}
	return files, nil
}

// parse reads a file; it is nil for one without a definition, like one that is no YAML.
func parse(path string, data []byte) (*manifest, *report.Finding) {
	if err := yamlsize.Check(data); err != nil {
		return nil, grown(path, err)
	}
	var object struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if sigs.Unmarshal(data, &object) != nil || object.APIVersion == "" || object.Kind != "CustomResourceDefinition" {
		return nil, nil
	}
	if object.APIVersion != "apiextensions.k8s.io/v1" {
		return nil, &report.Finding{
			Rule:     report.RulePatchedManifest,
			Position: report.Position{File: path}, Fatal: true,
			Message:    "CRDs of version " + object.APIVersion + " cannot be patched",
			Suggestion: "apiVersion: apiextensions.k8s.io/v1",
		}
	}
	var definition struct {
		Spec struct {
			Group string `json:"group"`
			Names struct {
				Kind string `json:"kind"`
			} `json:"names"`
			Versions []struct {
				Name string `json:"name"`
			} `json:"versions"`
		} `json:"spec"`
	}
	var document yaml.Node
	if sigs.Unmarshal(data, &definition) != nil || yaml.Unmarshal(data, &document) != nil {
		return nil, nil
	}
	f := &manifest{path: path, document: &document, group: definition.Spec.Group, kind: definition.Spec.Names.Kind}
	for _, v := range definition.Spec.Versions {
		f.versions = append(f.versions, v.Name)
	}
	return f, f.alone(data)
}

// grown is a file whose aliases would fill the memory, or that is nested too deep; one that is no YAML is left out.
func grown(path string, err error) *report.Finding {
	if deep, ok := errors.AsType[*yamlsize.DepthError](err); ok {
		return &report.Finding{
			Rule:     report.RulePatchedManifest,
			Position: report.Position{File: path, Line: deep.Line}, Fatal: true,
			Message:    fmt.Sprintf("the YAML is nested deeper than %d levels", yamlsize.Deepest),
			Suggestion: "no definition needs as many: correct the file",
		}
	}
	if !errors.Is(err, yamlsize.ErrGrowth) {
		return nil
	}
	return &report.Finding{
		Rule:     report.RulePatchedManifest,
		Position: report.Position{File: path}, Fatal: true,
		Message:    err.Error(),
		Suggestion: "replace the aliases by their contents",
	}
}

// alone tells a second document, which would be lost.
func (f *manifest) alone(data []byte) *report.Finding {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	if decoder.Decode(&first) != nil || decoder.Decode(&second) != nil || len(second.Content) == 0 || second.Content[0].Tag == "!!null" {
		return nil
	}
	return &report.Finding{
		Rule:       report.RulePatchedManifest,
		Position:   f.position(&second),
		Message:    "the file holds more than one document",
		Suggestion: "put each document into its own file",
		Fatal:      true,
	}
}

func (f *manifest) position(at *yaml.Node) report.Position {
	return report.Position{File: f.path, Line: at.Line, Column: at.Column}
}

// encode is the file as it is written.
func (f *manifest) encode() ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(f.document)
	return out.Bytes(), err
}
