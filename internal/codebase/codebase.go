// Package codebase reads facts about the project that a command works on: one value, through one view of its files.
//
//	code := codebase.Read(fileview.Disk(root), os.Getenv)
//	made, err := code.Generation()
//	made.CRDFolder() // config/crd/bases, or the folder of output:crd
//
// Each fact is a method that is computed once and has its own error. A verb that does not ask for a fact is not stopped
// by what is wrong with it.
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

// Read reads the project that a view shows. Getenv is asked for variables that a Makefile leaves to the environment.
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

// View is the project's files.
func (c *Codebase) View() fileview.View { return c.view }

// Generation is what is generated from the project's code. Its error is that a file which says so cannot be read.
func (c *Codebase) Generation() (Generation, error) { return c.generation() }

// Config is the graph of the project's kustomizations. Its error is that the project's folder cannot be read.
func (c *Codebase) Config() (*Kustomizations, error) { return c.config() }
