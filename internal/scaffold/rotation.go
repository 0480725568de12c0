package scaffold

import (
	"fmt"
	"strconv"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/report"
)

// rotationFile is the code with which a manager keeps its certificate itself.
const rotationFile = "internal/manager/certificate.go"

// planRotation plans the code that keeps the certificate, its call in main.go, and the module
// that does the work.
func (p *featurePlan) planRotation() error {
	a := &apiPlan{Plan: p.Plan, project: p.project}
	main, err := a.mainFile()
	if err != nil {
		return err
	}
	if there, err := p.exists("internal/manager/flags.go"); err != nil || !there {
		return orError(err, &report.Error{
			What: "the manager cannot start without a certificate, so it cannot make one", Where: main,
			Hint: "its webhook server must load the certificate at each handshake, as a manager made by `slipway init` does; " +
				"set GetCertificate in the TLSOpts of the server's options, and create internal/manager/flags.go with that code",
		})
	}
	if err := p.requireFrom("webhook/certificate.go", rotationFile, p.data()); err != nil {
		return err
	}
	if err := p.put(main, func(src []byte) []piece { return p.rotationPieces(a, src) }); err != nil {
		return err
	}
	return p.addModules("selfcert")
}

// rotationPieces call the code in main.go.
func (p *featurePlan) rotationPieces(a *apiPlan, src []byte) []piece {
	imports := parseImports(src)
	pkg := p.project.Repo + "/internal/manager"
	name := imports.name(pkg, "manager")
	imported := a.importFragment(name, pkg)
	if name == "manager" {
		imported.code = strconv.Quote(pkg) + "\n"
	}
	key := name + ".KeepCertificate("
	code := fmt.Sprintf("if err := %smgr); err != nil {\n%s}\n", key, failure(src, imports, "keep the certificate"))
	return []piece{imported, fragment{marker: "builder", code: code, key: key, near: nearBuilder}}
}

// addModules plans that go.mod requires what a feature's code imports, with its checksums.
func (p *Plan) addModules(feature string) error {
	data, err := render("modules/"+feature+".mod", nil)
	if err != nil {
		return err
	}
	pinned, err := modfile.Parse(feature+".mod", data, nil)
	if err != nil {
		return fmt.Errorf("modules of %s: %w", feature, err)
	}
	err = p.edit("go.mod", func(_ string, src []byte) ([]byte, error) {
		file, err := modfile.Parse("go.mod", src, nil)
		if err != nil {
			return nil, &report.Error{What: "go.mod cannot be read", Where: "go.mod:1", Hint: "nothing was changed; correct it and run the command again", Err: err}
		}
		if err := (&goMod{file}).raise(pinned); err != nil {
			return nil, err
		}
		file.Cleanup()
		return file.Format()
	})
	if err != nil {
		return err
	}
	return p.mergeSums("modules/" + feature + ".sum")
}

func orError(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
