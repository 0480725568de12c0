package codebase

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/makefile"
)

// Tools are the tools that the Makefile installs. CRDs name the version of controller-gen, so that is also the one of a
// recipe where no variable has it.
func (c *Codebase) Tools() (makefile.Tools, error) {
	content, err := c.makefile()
	if err != nil {
		return makefile.Tools{}, err
	}
	const generator, variable = "controller-gen", "CONTROLLER_TOOLS_VERSION"
	tools := makefile.ToolsOf(content, c.getenv, c.view)
	if tools.Versions[generator] == "" && !slices.Contains(tools.Unknown, variable) {
		if made, err := c.Generation(); err == nil && made.Tool.Version != "" { // who generates reports the error
			tools.Versions[generator] = made.Tool.Version
		}
	}
	return tools, nil
}
