package main

import (
	"context"

	apiutil "github.com/cert-manager/cert-manager/pkg/api/util"
	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	certmanagermeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/issuer"
)

// leftOut are the kinds of issuers that this controller does not have.
var leftOut = []string{apiutil.IssuerACME, apiutil.IssuerVault, apiutil.IssuerVenafi}

// registerLeftOut has an issuer of such a kind say so in its status. Otherwise its owner would read of it in the
// controller's log alone.
func registerLeftOut() {
	for _, kind := range leftOut {
		issuer.RegisterIssuer(kind, func(*controller.Context) (issuer.Interface, error) { return absent(kind), nil })
	}
}

// absent is a kind of issuer that is left out.
type absent string

// Setup implements issuer.Interface.
func (a absent) Setup(_ context.Context, i certmanagerv1.GenericIssuer) error {
	apiutil.SetIssuerCondition(i, i.GetGeneration(), certmanagerv1.IssuerConditionReady, certmanagermeta.ConditionFalse, "LeftOut",
		"slipway's cert-manager leaves out issuers of the kind "+string(a)+": use selfSigned or ca here, or install the original")
	return nil
}
