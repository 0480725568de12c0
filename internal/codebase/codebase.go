// Package codebase reads facts about a project, through one view of its files.
//
//	code := codebase.Read(fileview.Disk(root), os.Getenv)
//	made, err := code.Generation()
//	made.CRDFolder() // config/crd/bases, or the folder of output:crd
//
// Each method computes one fact once and returns that fact's own error. A mistake in the project stops only commands
// that need the fact.
package codebase

import (
	"sync"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/project"
)

// A Codebase is the project that a command works on.
type Codebase struct {
	view       fileview.View
	getenv     func(string) string
	chosen     string // see Choose
	generation func() (Generation, error)
	config     func() (*Kustomizations, error)
	folders    func() ([]goFolder, error)
	kinds      func() (kindsInCode, error)

	project     func() (*project.Project, error)
	controllers func() ([]Controller, error)
	webhooks    func() ([]Webhook, error)
	license     func() (Header, error)
	managers    func() ([]Manager, error)
	deployed    func() (Deployed, error)
	deployments func() ([]Deployment, error)
	samples     func() ([]sample, error)
}

// Read returns the codebase that a view shows. Getenv supplies the variables that a Makefile takes from the
// environment. Nothing is read until a method needs it.
func Read(view fileview.View, getenv func(string) string) *Codebase {
	c := &Codebase{view: view, getenv: getenv}
	c.generation = sync.OnceValues(c.readGeneration)
	c.config = sync.OnceValues(c.readConfig)
	c.folders = sync.OnceValues(c.readFolders)
	c.kinds = sync.OnceValues(c.readKinds)
	c.project = sync.OnceValues(c.readProject)
	c.controllers = sync.OnceValues(c.readControllers)
	c.webhooks = sync.OnceValues(c.readWebhooks)
	c.license = sync.OnceValues(c.readLicense)
	c.managers = sync.OnceValues(c.readManagers)
	c.deployed = sync.OnceValues(c.readDeployed)
	c.deployments = sync.OnceValues(c.readDeployments)
	c.samples = sync.OnceValues(c.readSamples)
	return c
}

// View returns the view that all facts are read through.
func (c *Codebase) View() fileview.View { return c.view }

// Generation returns how the project runs its code generators. The error is that a file such as the Makefile cannot be
// read.
func (c *Codebase) Generation() (Generation, error) { return c.generation() }

// Config returns the graph of the project's kustomizations. The error is that the project's folder cannot be read.
func (c *Codebase) Config() (*Kustomizations, error) { return c.config() }
