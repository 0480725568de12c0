package bounded

import (
	"bytes"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
)

// ErrOption is a version of a base that git would take for one of its options, such as one that names a program.
var ErrOption = errors.New("it has a version that begins with -, which git takes as an option")

// protocols is the variable by which git is told what it may fetch from.
const protocols = "GIT_ALLOW_PROTOCOL"

// remote are the protocols by which git starts no program here that the address, or the version in it, names. From a
// file:// it does.
const remote = "http:https:ssh:git"

// environment is who needs git's variable: it is the process's, and kustomize hands on no other.
var environment struct {
	sync.Mutex
	works int  // that go on
	ours  bool // the variable, which is unset after the last of them
}

// fetching has git fetch over networks alone until end is called, and until the end of all other works. Kustomize runs
// git for bases that are addresses, also for those that fetched ones name. A setting of the user's for that takes
// precedence.
func fetching() (end func()) {
	environment.Lock()
	defer environment.Unlock()
	if os.Getenv(protocols) == "" {
		environment.ours = os.Setenv(protocols, remote) == nil
	}
	environment.works++
	return fetched
}

// fetched ends a work's need of the variable.
func fetched() {
	environment.Lock()
	defer environment.Unlock()
	environment.works--
	if environment.works == 0 && environment.ours {
		environment.ours = os.Unsetenv(protocols) != nil
	}
}

// options refuses a kustomization that names such a version.
func options(path string, text []byte) error {
	if !slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(path)) {
		return nil
	}
	for piece := range bytes.SplitSeq(text, []byte("\n---")) {
		decoder := yaml.NewDecoder(bytes.NewReader(piece))
		for {
			var document yaml.Node
			if decoder.Decode(&document) != nil { // the end, or a mistake, which kustomize reports
				break
			}
			if err := optionIn(&document); err != nil {
				return err
			}
		}
	}
	return nil
}

// optionIn looks at every text: which of them kustomize takes for addresses is its affair.
func optionIn(n *yaml.Node) error {
	if _, query, ok := strings.Cut(n.Value, "?"); ok && n.Kind == yaml.ScalarNode {
		values, _ := url.ParseQuery(query) // as much as can be read, as kustomize has it
		for _, version := range slices.Concat(values["ref"], values["version"]) {
			if strings.HasPrefix(version, "-") {
				return ErrOption
			}
		}
	}
	for _, child := range n.Content {
		if err := optionIn(child); err != nil {
			return err
		}
	}
	return nil
}
