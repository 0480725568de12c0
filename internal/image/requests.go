// Package wire is what slipway and its program slipway-image say to each other. A [Request] goes to the program's
// standard input, as JSON; lines with an [Event] each come from its standard output, the last of which holds a result
// or a failure. Both are built from this package, so the form is in one place; a program of another version is reported
// by [Protocol].
package wire

import (
	"encoding/json"
	"errors"

	"github.com/slipway-dev/slipway/internal/report"
)

// NameKey is the annotation, in the index of the images that are kept, with an image's full name.
const NameKey = "org.opencontainers.image.ref.name"

// Protocol is the number of the form that requests and events have.
const Protocol = 1

// Request is what the program is asked to do: one of its pointers is not nil.
type Request struct {
	Protocol int      `json:"protocol"`
	Store    string   `json:"store"` // folder of the images that were built or pulled
	Build    *Build   `json:"build,omitempty"`
	Pull     *Pull    `json:"pull,omitempty"`
	Push     *Push    `json:"push,omitempty"`
	Save     *Save    `json:"save,omitempty"`
	Load     *Load    `json:"load,omitempty"`
	Inspect  *Inspect `json:"inspect,omitempty"`
	List     *List    `json:"list,omitempty"`
	Remove   *Remove  `json:"remove,omitempty"`
	Login    *Login   `json:"login,omitempty"`
	Logout   *Logout  `json:"logout,omitempty"`
}

// Build asks for an image of a project's manager. The result is an [Image].
type Build struct {
	Tag        string            `json:"tag"`
	Dir        string            `json:"dir"`                  // of the module, absolute
	Package    string            `json:"package,omitempty"`    // main package, like ./cmd; "" is the Dockerfile's or the only one
	Dockerfile string            `json:"dockerfile,omitempty"` // its path; "" is the module's
	Target     string            `json:"target,omitempty"`     // the stage that becomes the image; "" is the last one
	Platforms  []string          `json:"platforms"`            // like linux/arm64; empty is linux on this machine's processor
	Base       string            `json:"base,omitempty"`       // image below; "" is none
	Mirrors    []string          `json:"mirrors,omitempty"`    // like docker.io=mirror.example.com, before those of SLIPWAY_MIRROR
	BuildArgs  map[string]string `json:"buildArgs,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
}

// Account is what a registry knows its user by.
type Account struct {
	User     string `json:"user"`
	Password string `json:"password"`
}

// Pull asks for an image of a registry to be kept. The result is an [Image].
type Pull struct {
	Ref      string   `json:"ref"`
	Platform string   `json:"platform,omitempty"` // like linux/arm64; "" is linux on this machine's processor
	Mirrors  []string `json:"mirrors,omitempty"`  // as those of [Build]
}

// Push asks for an image to be pushed. The result is [Pushed].
type Push struct {
	Ref     string   `json:"ref"`
	Account *Account `json:"account,omitempty"` // nil is the one that is kept for the registry
}

// Formats of archives.
const (
	Docker = "docker" // of docker save, for one platform
	OCI    = "oci"    // an image layout, for any number
)

// Save asks for an image to be written into an archive. The result is [Saved].
type Save struct {
	Ref      string `json:"ref"`
	File     string `json:"file"`             // absolute
	Format   string `json:"format,omitempty"` // "" is Docker for one platform and OCI for several
	Platform string `json:"platform,omitempty"`
}

// Load asks for an image, or those of an archive, to be put into a cluster's registry. The result is [Loaded].
type Load struct {
	Ref      string   `json:"ref,omitempty"`
	File     string   `json:"file,omitempty"`    // absolute; instead of Ref
	Registry string   `json:"registry"`          // host:port
	Account  *Account `json:"account,omitempty"` // nil is the one that is kept for the registry
}

// Inspect asks what an image is. The result is an [Image].
type Inspect struct {
	Ref  string `json:"ref"`
	SBOM bool   `json:"sbom,omitempty"` // with the bills of materials
}

// List asks for all images. The result is a slice of [Listed].
type List struct{}

// Remove asks for images to be removed. The result is a slice of the names that were there.
type Remove struct {
	Refs []string `json:"refs"`
}

// Login asks for an account to be proved and kept. The result is a [LoggedIn].
type Login struct {
	Registry string `json:"registry"`
	User     string `json:"user"`
	Password string `json:"password"`
}

// Logout asks for a registry's account to be forgotten. The result is a [LoggedOut].
type Logout struct {
	Registry string `json:"registry"`
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

// Event is one line from the program. One of its fields is set.
type Event struct {
	Protocol int              `json:"protocol,omitempty"` // of the first line
	Step     *report.Step     `json:"step,omitempty"`
	Progress *report.Progress `json:"progress,omitempty"`
	Note     *report.Note     `json:"note,omitempty"`
	Warning  *report.Warning  `json:"warning,omitempty"`
	Result   json.RawMessage  `json:"result,omitempty"`
	Failure  *Failure         `json:"failure,omitempty"`
}

// Failure is a [report.Error] on its way.
type Failure struct {
	What  string `json:"what"`
	Where string `json:"where,omitempty"`
	Why   string `json:"why,omitempty"`
	Hint  string `json:"hint,omitempty"`
	Next  string `json:"next,omitempty"`
	Code  int    `json:"code"`
	// Compiling is true of a [CompileError].
	Compiling bool `json:"compiling,omitempty"`
}

// A CompileError is the cause of an error whose reason is in the code: the go command ran and did not compile it.
type CompileError struct{ Why string }

func (e CompileError) Error() string { return e.Why }

// Fail packs an error. An error that is no report.Error is reported as it is.
func Fail(err error) *Failure {
	e, ok := errors.AsType[*report.Error](err)
	if !ok {
		return &Failure{What: err.Error(), Code: 1}
	}
	f := &Failure{What: e.What, Where: e.Where, Hint: e.Hint, Next: e.Next, Code: e.ExitCode()}
	if e.Err != nil {
		f.Why = e.Err.Error()
	}
	_, f.Compiling = errors.AsType[CompileError](err)
	return f
}

// Error unpacks it.
func (f *Failure) Error() *report.Error {
	e := &report.Error{What: f.What, Where: f.Where, Hint: f.Hint, Next: f.Next, Code: f.Code}
	switch {
	case f.Compiling:
		e.Err = CompileError{f.Why}
	case f.Why != "":
		e.Err = errors.New(f.Why)
	}
	return e
}
