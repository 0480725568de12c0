package rbac

import (
	"bytes"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// plainName matches names that an option takes as they are: a repository may have any.
var plainName = lazy.Regexp(`^\w[\w.:-]*$`)

// RoleName is the name of a file's first ClusterRole, as far as the file can be read; "" where it has none, or one
// whose name is not plain.
func RoleName(content []byte) string {
	if !bytes.Contains(content, []byte("ClusterRole")) { // most of what is generated, without reading all of it
		return ""
	}
	for decoder := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var object struct {
			Kind     string
			Metadata struct{ Name string }
		}
		switch {
		case decoder.Decode(&object) != nil:
			return ""
		case object.Kind == "ClusterRole" && plainName().MatchString(object.Metadata.Name):
			return object.Metadata.Name
		}
	}
}
