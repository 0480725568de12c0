package codebase

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/makefile"
)

// Tools returns the tools that the Makefile installs. If no variable has the version of controller-gen, it is that of
// the recipe which runs it, since CRDs record it.
func (c *Codebase) Tools() (makefile.Tools, error) {
	content, err := c.makefile()
	if err != nil {
		return makefile.Tools{}, err
	}
	const generator, variable = "controller-gen", "CONTROLLER_TOOLS_VERSION"
	tools := makefile.ToolsOf(content, c.getenv, c.view)
	if tools.Versions[generator] == "" && !slices.Contains(tools.Unknown, variable) {
		if made, err := c.Generation(); err == nil && made.Tool.Version != "" { // generating reports the error
			tools.Versions[generator] = made.Tool.Version
		}
	}
	return tools, nil
}
