package image

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/slipway-dev/slipway/internal/image/store"
)

// maxIndex is how much of the index of kept images is read for their names.
const maxIndex = 16 << 20

// Names lists the names of the images that are kept, in order, as far as their index reports, for completion: nothing
// else is read, and nothing is mended. An index that cannot be read has no names.
func (i *Images) Names() []string {
	dir, err := i.folder()
	if err != nil {
		return nil
	}
	file, err := os.Open(filepath.Join(dir, "index.json"))
	if err != nil {
		return nil
	}
	defer file.Close()
	var index struct {
		Manifests []struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"manifests"`
	}
	if json.NewDecoder(io.LimitReader(file, maxIndex)).Decode(&index) != nil {
		return nil
	}
	var names []string
	for _, m := range index.Manifests {
		if name := m.Annotations[store.NameKey]; name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
