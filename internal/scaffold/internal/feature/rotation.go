package feature

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
)

// rotationFile is the code with which a manager keeps its certificate itself.
const rotationFile = "internal/manager/certificate.go"

// StartsWithoutCertificate reports whether the project's manager has the code for that, as projects made by slipway
// have.
func StartsWithoutCertificate(root string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(manager.FlagsFile)))
	return err == nil
}

// planRotation plans the code that keeps the certificate, its call in main.go, and the module
// that does the work.
func (p *planner) planRotation() error {
	main, err := manager.Find(p.Plan, p.project)
	if err != nil {
		return err
	}
	if there, err := p.Exists(manager.FlagsFile); err != nil || !there {
		return cmp.Or[error](err, &report.Error{
			What: "the manager does not start without a certificate, so it cannot issue its own", Where: main.Place(),
			Hint: "its webhook server must load the certificate at each handshake, as a manager of `slipway init` does; " +
				"set GetCertificate in the TLSOpts of the server's options, and create " + manager.FlagsFile + " with that code",
		})
	}
	if err := p.RequireFrom("webhook/certificate.go", rotationFile, p.data()); err != nil {
		return err
	}
	if err := main.Insert(p.Plan, p.rotationPieces); err != nil {
		return err
	}
	const module = "github.com/open-policy-agent/cert-controller"
	if err := gomod.PinFeature(p.Plan, "selfcert", module); err != nil {
		return err
	}
	return p.Insert("go.mod", plan.These(gomod.DirectUse{Module: module}, gomod.DirectUse{Module: "k8s.io/api"}))
}

// rotationPieces call the code in main.go.
func (p *planner) rotationPieces(src []byte) []plan.Piece {
	return p.managerCall(src, "KeepCertificate", wiring.Manager(src), "keep the certificate")
}
