package ship

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// unknownFlag is how Go programs end that are started with a flag that they do not have.
var unknownFlag = lazy.Regexp(`flag provided but not defined: -([\w-]+)`)

// olderImage says what in a container's log shows that its image was built before the project's configuration was as it
// is; "" without such a sign. The configuration and the code of a feature come together, the image does not.
func olderImage(container corev1.Container, log []string) string {
	for _, line := range log {
		if found := unknownFlag().FindStringSubmatch(line); found != nil && starts(container, found[1]) {
			return "image " + container.Image + " has no flag --" + found[1] + ", which the configuration sets: build the image again"
		}
	}
	return ""
}

// starts reports whether a container is started with a flag.
func starts(container corev1.Container, flag string) bool {
	return slices.ContainsFunc(slices.Concat(container.Command, container.Args), func(argument string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(argument, "-"), "=")
		return strings.HasPrefix(argument, "-") && name == flag
	})
}
