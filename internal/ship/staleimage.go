package ship

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// unknownFlag is how Go programs end that are started with a flag that they do not have.
var unknownFlag = lazy.Regexp(`flag provided but not defined: -([\w-]+)`)

// certificateFolder is the variable by which a manager that keeps its certificate itself knows where to write it.
const certificateFolder = "CERTIFICATE_DIR"

// olderImage says what in a container's log shows that its image was built before the project's configuration was as it
// is; "" without such a sign. The configuration and the code of a feature come together, the image does not.
func olderImage(container corev1.Container, log []string) string {
	for _, line := range log {
		if found := unknownFlag().FindStringSubmatch(line); found != nil && starts(container, found[1]) {
			return "image " + container.Image + " has no flag --" + found[1] + ", which the configuration sets: build the image again"
		}
		if folder := keptCertificate(container); folder != "" && strings.Contains(line, folder+"/tls.crt: no such file") {
			return "image " + container.Image + " writes no certificate to " + folder +
				": it was built before the project got --certs self; build the image again"
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

// keptCertificate is the folder into which a container is to write its certificate; "" if it keeps none.
func keptCertificate(container corev1.Container) string {
	for _, v := range container.Env {
		if v.Name == certificateFolder {
			return v.Value
		}
	}
	return ""
}
