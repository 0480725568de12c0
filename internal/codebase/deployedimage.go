package codebase

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/makefile"
	"github.com/slipway-dev/slipway/internal/recipe"
	"github.com/slipway-dev/slipway/internal/report"
)

// A SetImage is an image that the target deploy sets with kustomize edit set image.
type SetImage struct {
	Name  string // the image that is replaced
	Value string // its replacement; "" if only make or the shell knows it
	At    report.Position

	dir string // folder of the edited kustomization
}

// Flag returns the value for deploy's --image that sets the same image. IMG stands for an unknown one.
func (i SetImage) Flag() string {
	value := cmp.Or(i.Value, "IMG")
	if i.Name == ownImage {
		return value
	}
	return i.Name + "=" + value
}

// setImages returns the images that a call of kustomize edit set image sets. For any other call it returns nil.
func setImages(program string, call recipe.Call) (images []SetImage) {
	words := call.Arguments
	if program != "kustomize" || len(words) < 3 || words[0] != "edit" || words[1] != "set" || words[2] != "image" {
		return nil
	}
	for _, word := range words[3:] {
		name, value, named := strings.Cut(word, "=")
		if !named {
			name, _, _ = reference.Split(word)
			value = word
		}
		if strings.Contains(value, recipe.Unknown) {
			value = ""
		}
		if !strings.HasPrefix(word, "-") {
			images = append(images, SetImage{Name: name, Value: value, At: report.Position{File: call.File, Line: call.Line, Column: 1}, dir: cmp.Or(call.Dir, ".")})
		}
	}
	return images
}

// addImages records the manager's image in d if a command sets it for a deployed folder. It records other images as
// edits.
func (c *Codebase) addImages(d *Deployed, all *Kustomizations, images []SetImage, makefileText []byte) {
	built := makefile.Value(makefileText, "IMG", c.getenv, c.view)
	repository, _, _ := reference.Split(built)
	for _, image := range images {
		deploys := func(folder string) bool { return slices.Contains(all.Parts(folder), image.dir) }
		switch {
		case !slices.ContainsFunc(d.Folders, deploys):
		case image.Name == ownImage, built != "" && (image.Name == repository || image.Value == built), c.runsManager(d.Folders, image.Name):
			d.Image = &image
		default:
			d.edited = append(d.edited, place(image.At)+": kustomize edit set image "+strings.ReplaceAll(image.Name, recipe.Unknown, "…")+"="+cmp.Or(image.Value, "…"))
		}
	}
}

// runsManager reports whether a manager's container in these folders runs the image name.
func (c *Codebase) runsManager(folders []string, name string) bool {
	for _, folder := range folders {
		all, _ := c.deploymentsIn(folder) // deploying reports a folder that does not build
		for _, d := range all {
			containers := d.Spec.Template.Spec.Containers
			for _, container := range containers {
				is, _, _ := reference.Split(container.Image)
				if is == name && (container.Name == usualContainer || len(containers) == 1 && len(all) == 1) {
					return true
				}
			}
		}
	}
	return false
}
