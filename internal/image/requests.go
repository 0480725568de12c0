package image

import (
	"encoding/json"

	"github.com/slipway-dev/slipway/internal/image/compile"
)

// A CompileError is the cause of an error whose reason is in the code: the go command ran and did not compile it.
type CompileError = compile.Error

// Build asks for an image of a project's manager. The result is an [Image].
type Build struct {
	Tag        string
	Dir        string   // of the module, absolute
	Package    string   // main package, like ./cmd; "" is the Dockerfile's or the only one
	Dockerfile string   // its path; "" is the module's
	Target     string   // the stage that becomes the image; "" is the last one
	Platforms  []string // like linux/arm64; empty is linux on this machine's processor
	Base       string   // image below; "" is none
	Mirrors    []string // like docker.io=mirror.example.com, before those of SLIPWAY_MIRROR
	BuildArgs  map[string]string
	Labels     map[string]string
	// AllowIncomplete builds the image also if it lacks what the Dockerfile has.
	AllowIncomplete bool
}

// Account is what a registry knows its user by.
type Account struct {
	User     string
	Password string
}

// Pull asks for an image of a registry to be kept. The result is an [Image].
type Pull struct {
	Ref      string
	Platform string   // like linux/arm64; "" is linux on this machine's processor
	Mirrors  []string // as those of [Build]
}

// Push asks for an image to be pushed. The result is [Pushed].
type Push struct {
	Ref     string
	File    string   // absolute: an archive with the image; "" is the one that is kept
	Account *Account // nil is the one that is kept for the registry
}

// Formats of archives.
const (
	Docker = "docker" // of docker save, for one platform
	OCI    = "oci"    // an image layout, for any number
)

// Save asks for an image to be written into an archive. The result is [Saved].
type Save struct {
	Ref      string
	File     string // absolute
	Format   string // "" is Docker for one platform and OCI for several
	Platform string
}

// Load asks for an image, or those of an archive, to be put into a cluster's registry. The result is [Loaded].
type Load struct {
	Ref      string
	File     string   // absolute; instead of Ref
	Registry string   // host:port
	Account  *Account // nil is the one that is kept for the registry
}

// Inspect asks what an image is. The result is an [Image].
type Inspect struct {
	Ref  string
	SBOM bool // with the bills of materials
}

// Login asks for an account to be proved and kept. The result is a [LoggedIn].
type Login struct {
	Registry string
	User     string
	Password string
}

// Logout asks for a registry's account to be forgotten. The result is a [LoggedOut].
type Logout struct {
	Registry string
}

// Image is what an image is.
type Image struct {
	Name      string     `json:"name"`
	Digest    string     `json:"digest"`
	MediaType string     `json:"mediaType"`
	Size      int64      `json:"size"` // of all that is pushed, in bytes
	Platforms []Platform `json:"platforms"`
	Unchanged bool       `json:"unchanged,omitempty"` // a build made, or a pull found, what was there
}

// Platform is the image for one platform.
type Platform struct {
	Platform   string            `json:"platform"`
	Digest     string            `json:"digest"`
	Created    string            `json:"created"`
	Size       int64             `json:"size"`
	User       string            `json:"user"`
	Entrypoint []string          `json:"entrypoint"`
	Command    []string          `json:"command,omitempty"`
	Env        []string          `json:"env,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Layers     []Layer           `json:"layers"`
	SBOM       json.RawMessage   `json:"sbom,omitempty"`
}

// Layer is one layer of an image.
type Layer struct {
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	Made   string `json:"made,omitempty"` // by what
}

// Pushed is an image in a registry.
type Pushed struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Image  string `json:"image"` // repository@digest
}

// Saved is an archive.
type Saved struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Format string `json:"format"`
	Size   int64  `json:"size"`
}

// Loaded are images that a cluster has.
type Loaded struct {
	Images []Pushed `json:"images"`
}

// LoggedIn is an account that is kept.
type LoggedIn struct {
	Registry string `json:"registry"`
	User     string `json:"user"`
	Kept     string `json:"kept"` // a file, or a credential helper
}

// LoggedOut is an account that is kept no more.
type LoggedOut struct {
	Registry string `json:"registry"`
	Known    bool   `json:"known"` // there was one
}

// Listed is an image in short.
type Listed struct {
	Name      string   `json:"name"`
	Digest    string   `json:"digest"`
	Platforms []string `json:"platforms"`
	Created   string   `json:"created"`
	Size      int64    `json:"size"`
}
