package program

import (
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

const (
	// generatorModule is the module that a product can be built with another version of.
	generatorModule = "k8s.io/code-generator"
	// toolsModule reads packages for the generators. That of old generators does not compile with today's Go.
	toolsModule = "golang.org/x/tools"
)

// pinned are the flags with which the go command builds the product in dir with the pinned version: those of a go.mod
// of its own in the folder out, which requires little else, so that the generators have all that they need at the
// versions that they were made with. There are none for a product that is not pinned.
func (p *product) pinned(dir, out string) ([]string, error) {
	if p.pin == "" {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	own, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	content, err := p.pinnedModule(own)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(out, "pinned.mod")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return nil, unusable(err)
	}
	return []string{"-mod=mod", "-modfile=" + file}, nil
}

// pinnedModule is the content of that go.mod.
func (p *product) pinnedModule(own *modfile.File) ([]byte, error) {
	var file modfile.File
	if err := file.AddModuleStmt(p.module); err != nil {
		return nil, err
	}
	if own.Go != nil {
		if err := file.AddGoStmt(own.Go.Version); err != nil {
			return nil, err
		}
	}
	if err := file.AddRequire(generatorModule, p.pin); err != nil {
		return nil, err
	}
	for _, r := range own.Require {
		if r.Mod.Path == toolsModule {
			if err := file.AddRequire(r.Mod.Path, r.Mod.Version); err != nil {
				return nil, err
			}
		}
	}
	return file.Format()
}
