package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/operation/projects"
	"github.com/slipway-dev/slipway/internal/report"
)

// imagePlugins are the names under which other tools ask for a controller that runs an image.
var imagePlugins = []string{"deploy-image/v1-alpha", "deploy-image", projects.ImagePlugin}

// bindImage adds the flags of controllers that run an image.
func (f *apiFlags) bindImage(flags *pflag.FlagSet) {
	flags.StringVar(&f.Image.Name, "image", "", "`image` that the controller runs for each object, in a Deployment")
	flags.StringVar(&f.Image.Command, "image-container-command", "", "the container's `command` and arguments, separated by commas")
	flags.StringVar(&f.Image.Port, "image-container-port", "", "`port` that the container listens on")
	flags.StringVar(&f.Image.User, "run-as-user", "", "`id` of the user that the container runs as")
	flags.StringSliceVar(&f.plugins, "plugins", nil, "accepted for scripts: `deploy-image/v1-alpha`, which --image implies")
}

// checkPlugins refuses plug-ins that there are not, and an image's without an image.
func (inv *invocation) checkPlugins(f *apiFlags) error {
	for _, name := range f.plugins {
		if !slices.Contains(imagePlugins, name) {
			if err := inv.acceptPlugin(name, false); err != nil {
				return err
			}
		} else if f.Image.Name == "" {
			return &report.Error{What: "--image is missing", Where: "--plugins=" + strings.Join(f.plugins, ","), Hint: "--image names the image that the controller runs"}
		}
	}
	return nil
}
