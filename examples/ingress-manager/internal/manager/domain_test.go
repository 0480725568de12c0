package manager

import (
	"context"
	"testing"

	"k8s.io/utils/ptr"

	"example.com/ingress-manager/internal/controller"
)

// TestDomainComes: an Ingress from before the domain goes when the domain comes.
func TestDomainComes(t *testing.T) {
	f := newFixture(t)
	stop := f.start("first")
	f.service("shop", ptr.To("bank.example.com"), http)
	f.wantHost("shop", "bank.example.com")
	stop()
	f.domain = "apps.example.com"
	f.start("second")
	f.wantEvent("shop", controller.ReasonHostNotAllowed)
	f.eventually("the Ingress stays", func(context.Context) bool { return f.ingress("shop") == nil })
}
