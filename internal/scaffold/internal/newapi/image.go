package newapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// ImagePlugin is where PROJECT records what APIs that run an image were made with.
const ImagePlugin = "deploy-image.go.kubebuilder.io/v1-alpha"

// An Image is the container that a kind's controller runs in a Deployment.
type Image struct {
	Name    string // "memcached:1.6"
	Command string // arguments between commas
	Port    string // that it listens on; "" for none
	User    string // id of the user that it runs as; "" for the image's own
}

// check refuses values that no container can have.
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

// Args are the command and its arguments as Go has them.
func (i Image) Args() string {
	var quoted []string
	for arg := range strings.SplitSeq(i.Command, ",") {
		quoted = append(quoted, strconv.Quote(arg))
	}
	return strings.Join(quoted, ", ")
}

// recordImage has PROJECT tell what the controller was made to run, beside what is recorded
// of others.
func (a *planner) recordImage(r *project.Resource) error {
	i := a.options.Image
	if i.Name == "" {
		return nil
	}
	facts := map[string]any{}
	if _, err := a.project.Plugin(ImagePlugin, &facts); err != nil {
		return err
	}
	all, _ := facts["resources"].([]any)
	now := filled("group", r.Group, "version", r.Version, "kind", r.Kind)
	for _, old := range all {
		if known, ok := old.(map[string]any); ok && known["group"] == now["group"] && known["version"] == now["version"] && known["kind"] == now["kind"] {
			return nil
		}
	}
	if r.Domain != "" {
		now["domain"] = r.Domain
	}
	now["options"] = filled("image", i.Name, "containerCommand", i.Command, "containerPort", i.Port, "runAsUser", i.User)
	facts["resources"] = append(all, now)
	return a.project.SetPlugin(ImagePlugin, facts)
}

// imageOf is what PROJECT records of the image that a kind's controller runs, if any.
func imageOf(file *project.Project, r project.Resource) (Image, error) {
	var facts struct {
		Resources []struct {
			Group, Version, Kind string
			Options              struct {
				Image   string
				Command string `yaml:"containerCommand"`
				Port    string `yaml:"containerPort"`
				User    string `yaml:"runAsUser"`
			}
		}
	}
	if _, err := file.Plugin(ImagePlugin, &facts); err != nil {
		return Image{}, err
	}
	for _, f := range facts.Resources {
		if f.Group == r.Group && f.Version == r.Version && f.Kind == r.Kind {
			return Image{f.Options.Image, f.Options.Command, f.Options.Port, f.Options.User}, nil
		}
	}
	return Image{}, nil
}

// ForgetImage takes what is recorded of the image out of PROJECT.
func ForgetImage(file *project.Project, r project.Resource) error {
	facts := map[string]any{}
	found, err := file.Plugin(ImagePlugin, &facts)
	if !found || err != nil {
		return err
	}
	all, _ := facts["resources"].([]any)
	kept := slices.DeleteFunc(slices.Clone(all), func(old any) bool {
		known, ok := old.(map[string]any)
		return ok && known["group"] == r.Group && known["version"] == r.Version && known["kind"] == r.Kind
	})
	if len(kept) == len(all) {
		return nil
	}
	if len(kept) == 0 {
		file.DropPlugin(ImagePlugin)
		return nil
	}
	facts["resources"] = kept
	return file.SetPlugin(ImagePlugin, facts)
}

// filled is a mapping of the keys that have a value, each followed by it.
func filled(pairs ...string) map[string]any {
	values := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values[pairs[i]] = pairs[i+1]
		}
	}
	return values
}
