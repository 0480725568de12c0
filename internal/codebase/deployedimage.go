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

// A SetImage is an image that a command of the target deploy has the manager run, by kustomize edit set image.
type SetImage struct {
	Name  string // the image that is replaced
	Value string // "" where only make or the shell know it
	At    report.Position

	dir string // of the kustomization; "" if it is not known
}

// Flag is the value of deploy's --image for the image.
func (i SetImage) Flag() string {
	value := cmp.Or(i.Value, "IMG")
	if i.Name == ownImage {
		return value
	}
	return i.Name + "=" + value
}

// setImages are the images that a call sets, if it is kustomize edit set image.
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

// addImages notes the manager's image among those that commands set for the deployed folders. Others change what is
// deployed.
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

// runsManager reports whether the manager's container of a Deployment in folders has the image of a name.
func (c *Codebase) runsManager(folders []string, name string) bool {
	for _, folder := range folders {
		all, _ := c.deploymentsIn(folder) // deploying reports one that does not build
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
