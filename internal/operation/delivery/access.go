package delivery

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// accessKinds are those by which an operator has its rights in a cluster.
var accessKinds = []string{"Namespace", "ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}

// Access is what an operator may do in a cluster.
type Access struct {
	Namespace, Account string // the ServiceAccount of the manager
	Objects            []*unstructured.Unstructured
	Running            []string                     // workloads of the operator in the cluster with replicas, as a scale command names them
	All                []*unstructured.Unstructured // objects of the operator
}

// Name is the account's, as NAMESPACE/NAME.
func (a Access) Name() string { return a.Namespace + "/" + a.Account }

// User is what the API server calls the ServiceAccount.
func (a Access) User() string { return "system:serviceaccount:" + a.Namespace + ":" + a.Account }

// Grant applies the namespace, the ServiceAccounts, roles and bindings that deploying the project would bring, and
// nothing else of it. They belong to no inventory: a later deploy takes them over.
func Grant(ctx context.Context, s *operation.Session, root string, cluster *ship.Cluster) (Access, error) {
	again := operation.NewCommandLine("slipway deploy")
	folder, err := DeployedFolder(s, root, "", again)
	if err == nil {
		err = RequireKustomization(s, root, folder, again)
	}
	if err != nil {
		return Access{}, &report.Error{What: "the ServiceAccount of the manager is not known, since it is not clear what is deployed", Where: root, Err: err,
			Hint: "--as admin gives the manager your own rights, --as NAMESPACE/NAME those of an account", Next: "slipway dev --as admin"}
	}
	building, end := Online(ctx, s, false)
	defer end()
	objects, err := s.Build(building, kustomization.Kustomization{Folder: ResolveFolder(root, folder), Files: s.Files(root), Tell: s.Note})
	if err != nil {
		return Access{}, err
	}
	access := Access{All: objects, Objects: slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return !slices.Contains(accessKinds, o.GetKind()) })}
	if access.Namespace, access.Account = accountOf(objects); access.Account == "" {
		return access, &report.Error{Class: report.BadProject, What: "the ServiceAccount of the manager is not known: none or several workloads are deployed", Where: folder,
			Hint: "expected one Deployment, StatefulSet or DaemonSet; --as names an account, or gives the manager your own rights", Next: "slipway dev --as admin"}
	}
	if access.Running, err = cluster.Running(ctx, objects); err != nil {
		return access, err
	}
	return access, cluster.Apply(ctx, access.Objects, ship.ApplyOptions{Force: true})
}

// accountOf is the ServiceAccount of the workload among objects; empty if there is none, or several differ.
func accountOf(objects []*unstructured.Unstructured) (namespace, account string) {
	for _, o := range objects {
		if !slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, o.GetKind()) {
			continue
		}
		name, _, _ := unstructured.NestedString(o.Object, "spec", "template", "spec", "serviceAccountName")
		if name == "" {
			name = "default"
		}
		if account != "" && (account != name || namespace != o.GetNamespace()) {
			return "", ""
		}
		namespace, account = o.GetNamespace(), name
	}
	return namespace, account
}
