package newapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// ImagePlugin is the key in PROJECT under which kubebuilder's plug-in records APIs that run an image.
const ImagePlugin = "deploy-image.go.kubebuilder.io/v1-alpha"

// An Image is the container that a kind's controller runs in a Deployment.
type Image struct {
	Command string `yaml:"containerCommand,omitempty"` // arguments, separated by commas
	Port    string `yaml:"containerPort,omitempty"`    // the port that it listens on; "" for none
	Name    string `yaml:"image,omitempty"`            // "memcached:1.6"
	User    string `yaml:"runAsUser,omitempty"`        // user id; "" for the image's own
}

func (i Image) check() error {
	if i.Name == "" {
		if i != (Image{}) {
			return &report.Error{What: "there is no image to run", Where: "--image", Hint: "add one, such as --image memcached:1.6-alpine"}
		}
		return nil
	}
	if strings.ContainsAny(i.Name, " \t\n\"'`\\") {
		return &report.Error{What: fmt.Sprintf("invalid image name %q", i.Name), Where: "--image", Hint: "use a name such as memcached:1.6-alpine"}
	}
	if port, err := strconv.Atoi(i.Port); i.Port != "" && (err != nil || port < 1 || port > 65535) {
		return &report.Error{What: fmt.Sprintf("invalid port %q", i.Port), Where: "--image-container-port", Hint: "use a number from 1 to 65535"}
	}
	if user, err := strconv.ParseInt(i.User, 10, 64); i.User != "" && (err != nil || user < 1) {
		return &report.Error{What: fmt.Sprintf("invalid user id %q", i.User), Where: "--run-as-user", Hint: "use a number from 1, such as 65532; root is not allowed"}
	}
	return nil
}

// Args is the command with its arguments, as arguments of a Go call.
func (i Image) Args() string {
	var quoted []string
	for arg := range strings.SplitSeq(i.Command, ",") {
		quoted = append(quoted, strconv.Quote(arg))
	}
	return strings.Join(quoted, ", ")
}

// images is the entry of [ImagePlugin] in PROJECT.
type images struct {
	Resources []imageOfKind  `yaml:"resources"`
	Others    map[string]any `yaml:",inline"`
}

type imageOfKind struct {
	Domain  string         `yaml:"domain,omitempty"`
	Group   string         `yaml:"group,omitempty"`
	Kind    string         `yaml:"kind,omitempty"`
	Options yaml.Node      `yaml:"options,omitempty"` // an Image
	Version string         `yaml:"version,omitempty"`
	Others  map[string]any `yaml:",inline"`
}

// imagesIn returns the entry of [ImagePlugin], and the index of a kind in it or -1.
func imagesIn(file *project.Project, r project.Resource) (all images, at int, err error) {
	_, err = file.Plugin(ImagePlugin, &all)
	return all, slices.IndexFunc(all.Resources, func(i imageOfKind) bool {
		return i.Group == r.Group && i.Version == r.Version && i.Kind == r.Kind
	}), err
}

// recordImage adds the image to [ImagePlugin], unless the kind is listed.
func (a *planner) recordImage(r *project.Resource) error {
	all, at, err := imagesIn(a.project, *r)
	if err != nil || at >= 0 || a.options.Image.Name == "" {
		return err
	}
	now := imageOfKind{Domain: r.Domain, Group: r.Group, Kind: r.Kind, Version: r.Version}
	if err := now.Options.Encode(a.options.Image); err != nil {
		return err
	}
	all.Resources = append(all.Resources, now)
	return a.project.SetPlugin(ImagePlugin, all)
}

// imageOf returns the image that PROJECT records for a kind, or the zero value.
func imageOf(file *project.Project, r project.Resource) (i Image, err error) {
	all, at, err := imagesIn(file, r)
	if err == nil && at >= 0 {
		err = all.Resources[at].Options.Decode(&i)
	}
	return i, err
}

// ForgetImage removes the kind from [ImagePlugin].
func ForgetImage(file *project.Project, r project.Resource) error {
	all, at, err := imagesIn(file, r)
	switch {
	case err != nil || at < 0:
		return err
	case len(all.Resources) == 1:
		file.DropPlugin(ImagePlugin)
		return nil
	}
	all.Resources = slices.Delete(all.Resources, at, at+1)
	return file.SetPlugin(ImagePlugin, all)
}

// MoveImage records the image of a kind's version for another version, whose controller runs it now.
func MoveImage(file *project.Project, from, to project.Resource) error {
	all, at, err := imagesIn(file, from)
	if err != nil || at < 0 {
		return err
	}
	all.Resources = slices.Clone(all.Resources)
	all.Resources[at].Version = to.Version
	return file.SetPlugin(ImagePlugin, all)
}
