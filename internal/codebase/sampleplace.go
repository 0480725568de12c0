package codebase

import (
	"bytes"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/project"
)

// SampleFolder is the layouts' folder of samples. Some projects keep them in subfolders by group or version.
const SampleFolder = configFolder + "/samples"

// newSampleList is the list of a project's first sample, where kubebuilder's commands look for it.
const newSampleList = SampleFolder + "/kustomization.yaml"

// A SamplePlace is where the sample of a kind goes.
type SamplePlace struct {
	File string
	// List is the kustomization that lists the sample, or "". Item is the sample's path relative to List.
	List, Item string
	// Apart lists the folders of the project's samples if none is certain for this one. The sample then goes to
	// [SampleFolder].
	Apart []string
}

// SamplePlace returns the place of a kind's sample. An existing sample keeps its place. A new one goes beside samples
// of its version, or of its group if their folder is not for one version.
func (c *Codebase) SamplePlace(file *project.Project, r project.Resource) (SamplePlace, error) {
	all, err := c.samples()
	if err != nil {
		return SamplePlace{}, err
	}
	name := path.Base(file.SampleFile(r))
	folder, certain := folderForSample(all, file, r)
	place := SamplePlace{File: path.Join(folder, name)}
	if !certain {
		place.Apart = foldersOf(all, ofProject(file))
	}
	if place.List, err = c.listOfSamples(all, folder); err != nil || place.List == "" {
		return place, err
	}
	item, err := filepath.Rel(filepath.FromSlash(path.Dir(place.List)), filepath.FromSlash(place.File))
	place.Item = filepath.ToSlash(item)
	return place, err
}

func folderForSample(all []sample, file *project.Project, r project.Resource) (folder string, certain bool) {
	name, group := path.Base(file.SampleFile(r)), r.QualifiedGroup()
	for _, is := range []func(sample) bool{
		func(s sample) bool { return path.Base(s.file) == name },
		func(s sample) bool { return s.built && s.of.Group == group && s.of.Version == r.Version },
		func(s sample) bool { return s.built && s.of.Group == group && !s.byVersion() },
	} {
		folders := foldersOf(all, is)
		switch {
		case slices.Contains(folders, SampleFolder):
			return SampleFolder, true
		case len(folders) == 1:
			return folders[0], true
		case len(folders) > 1:
			return SampleFolder, false
		}
	}
	others := foldersOf(all, ofProject(file))
	return SampleFolder, len(others) == 0 || slices.Contains(others, SampleFolder)
}

// listOfSamples returns the kustomization for the samples of a folder. A project without samples gets a new one. It
// returns "" if samples exist without a list: a new list would name only some of them.
func (c *Codebase) listOfSamples(all []sample, folder string) (string, error) {
	if list := c.Kustomization(folder); list != "" {
		return list, nil
	}
	if folder == SampleFolder {
		if entries, err := c.view.ReadDir(folder); err == nil && len(entries) > 0 {
			return "", nil
		}
		return newSampleList, nil
	}
	config, err := c.Config()
	if err != nil {
		return "", err
	}
	for _, s := range all {
		if by := config.ListedBy(s.file); path.Dir(s.file) == folder && len(by) == 1 {
			return config.File(by[0]), nil
		}
	}
	return "", nil
}

// A sample is a file below [SampleFolder].
type sample struct {
	file string
	of   schema.GroupVersion
	// built is false if the folder's kustomization does not list the file, which may be a patch then.
	built bool
}

// byVersion reports whether the sample's folder is named after its version.
func (s sample) byVersion() bool {
	return strings.Contains(strings.TrimPrefix(path.Dir(s.file), SampleFolder), s.of.Version)
}

// ofProject returns a function that reports whether a sample is in one of the project's groups.
func ofProject(file *project.Project) func(sample) bool {
	return func(s sample) bool {
		return s.built && slices.ContainsFunc(file.Resources, func(r project.Resource) bool { return r.QualifiedGroup() == s.of.Group })
	}
}

func foldersOf(all []sample, is func(sample) bool) []string {
	var folders []string
	for _, s := range all {
		if dir := path.Dir(s.file); is(s) && !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	return folders
}

// readSamples reads the files of [Codebase.Samples] in [SampleFolder]. It skips unreadable ones.
func (c *Codebase) readSamples() (all []sample, err error) {
	config, err := c.Config()
	if err != nil {
		return nil, err
	}
	for _, name := range c.Samples() {
		of, is := c.versionIn(name)
		if is && strings.HasPrefix(name, SampleFolder+"/") {
			list := config.kustomizationIn(path.Dir(name))
			all = append(all, sample{file: name, of: of, built: list == nil || slices.Contains(list.listed, name)})
		}
	}
	return all, nil
}

// versionIn returns the API version of the first object in a file.
func (c *Codebase) versionIn(file string) (of schema.GroupVersion, is bool) {
	src, err := c.view.ReadFile(file)
	if err != nil {
		return of, false
	}
	var object struct {
		APIVersion string `yaml:"apiVersion"`
	}
	if yaml.NewDecoder(bytes.NewReader(src)).Decode(&object) != nil {
		return of, false
	}
	of, err = schema.ParseGroupVersion(object.APIVersion)
	return of, err == nil && of.Version != ""
}
