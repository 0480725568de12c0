package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// FileName is the name of the file that makes a folder a project.
const FileName = "PROJECT"

// Version is the version of the file format that is written.
const Version = "3"

// Layout is the layout of projects that Slipway makes; it is kubebuilder's, so
// that the project stays readable to it.
const Layout = "go.kubebuilder.io/v4"

// PluginKey is where Slipway keeps its own facts, below `plugins`.
const PluginKey = "slipway.dev/v1"

// ErrNotFound says that neither a folder nor any folder above it holds a project.
var ErrNotFound = errors.New("no PROJECT file in this folder or above it")

// A Project is the content of a PROJECT file.
type Project struct {
	Version    string   // format version: "3", or "2" or "1" as read from an older project
	CLIVersion string   // version of the tool that wrote the file; may be empty
	Domain     string   // suffix of API groups: "example.com"
	Repo       string   // path of the Go module
	Name       string   // name of the project, prefix of its objects; "" before version 3
	Layout     []string // names of the layouts, the base first
	MultiGroup bool     // APIs in api/<group>/<version>, or apis/ in an older layout
	Namespaced bool     // the manager watches namespaces, not the cluster
	Resources  []Resource

	// Folders are where the project's code has what it has in other folders than the layout; the file has no such
	// entry.
	Folders Folders

	doc *yaml.Node // with all that this package does not know
	src []byte     // the bytes that the file was read from, or nil
}

// Folders are where controllers and webhooks are. Without a name they are where the layout has them.
type Folders struct {
	Controllers string
	Webhooks    string // each version has a folder in it
	OneWebhooks bool   // all versions are in that folder itself
	// UngroupedWebhooks reports that, with several groups, those folders of versions are for all groups.
	UngroupedWebhooks bool
}

// A Resource is one API of the project, or one that it works on.
type Resource struct {
	Group   string // without the domain: "batch"; may be empty
	Version string // "v1alpha1"
	Kind    string // "CronJob"
	Domain  string // "example.com"; empty for core types
	Plural  string // lower case, only when it differs from the usual one

	Path        string // import path of the Go types; "" when there are none
	API         *API   // set when the project defines the type
	Controller  bool   // the project has a controller for it
	Controllers []Controller
	Core        bool   // a type of Kubernetes itself
	External    bool   // a type of another module
	Module      string // that module, with its version
	Webhooks    *Webhooks

	// APIGroup is the API group that the types' package says, where it is not made of Group and Domain; the file has
	// no such entry.
	APIGroup string
}

// An API says how the project defines a type.
type API struct {
	CRDVersion string // "v1"
	Namespaced bool   // scope of the objects
	SSA        bool   // typed apply configurations are generated
}

// A Controller is a controller with a name of its own.
type Controller struct {
	Name string
}

// Webhooks says which webhooks a type has.
type Webhooks struct {
	WebhookVersion string
	Defaulting     bool
	Validation     bool
	Conversion     bool
	Spoke          []string // versions converted to and from this one
	DefaultingPath string
	ValidationPath string
}

// Find returns the folder at or above dir that holds a PROJECT file, or
// [ErrNotFound].
func Find(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find project: %w", err)
	}
	for {
		info, err := os.Stat(filepath.Join(dir, FileName))
		if err == nil && info.Mode().IsRegular() {
			return dir, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("find project: %w", err)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ErrNotFound
		}
		dir = parent
	}
}

// Load reads the PROJECT file in folder root. Positions in errors name the file
// by its full path.
func Load(root string) (*Project, error) {
	name := filepath.Join(root, FileName)
	data, err := safefs.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read project: %w", err)
	}
	return Parse(name, data)
}

// Lookup returns the resource with this group, version and kind, or nil. The
// result points into p.
func (p *Project) Lookup(group, version, kind string) *Resource {
	i := slices.IndexFunc(p.Resources, func(r Resource) bool {
		return r.Group == group && r.Version == version && r.Kind == kind
	})
	if i < 0 {
		return nil
	}
	return &p.Resources[i]
}

// Groups returns the groups that the project defines itself, in the file's order.
func (p *Project) Groups() []string {
	var groups []string
	for _, r := range p.Resources {
		if r.API != nil && !slices.Contains(groups, r.Group) {
			groups = append(groups, r.Group)
		}
	}
	return groups
}
