package places

import (
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
)

// Obtain is how a user gets an image into a cluster, in commands that succeed one after the other. Whether the image is
// the user's own or a registry's, its name does not say.
func Obtain(ref string) string {
	pull := fmt.Sprintf("slipway image pull %s && slipway image load %[1]s", ref)
	if build := Build(ref); build != "" {
		return pull + "; or, if it is your own image, " + build
	}
	return pull
}

// Build is how a user gets an own image into a cluster; empty for a name with a digest, which no build has.
func Build(ref string) string {
	if _, err := name.NewTag(ref); err != nil {
		return ""
	}
	return fmt.Sprintf("slipway image build -t %s && slipway image load %[1]s", ref)
}

// Familiar is a registry's name as users write it.
func Familiar(registry string) string {
	if registry == name.DefaultRegistry {
		return "docker.io"
	}
	return registry
}
