// Package ship brings a project's objects to a cluster and takes them away again.
//
// A shipment is objects, which package kustomization makes of a folder, and a cluster:
//
//	cluster, err := ship.Connect(kubeconfig, handler)     // the one that is meant
//	err = cluster.Apply(ctx, objects, ship.ApplyOptions{}) // or cluster.Delete
//
// # Connecting
//
// [Connect] finds the cluster as kubectl does: an explicit kubeconfig, else KUBECONFIG,
// else ~/.kube/config, else the pod that the process runs in. It makes no
// request; [Cluster.Ping] makes the cheapest one, and every failure to reach the
// cluster is a [report.Error] that says where it was looked for and how to start one.
//
// # Applying
//
// [Cluster.Apply] is server-side apply, under a field manager of the project's own, which begins with [FieldManager]:
// the server merges, knows who owns which field, and no copy of the object has to
// fit into an annotation (which is why `kubectl apply` fails for objects beyond
// 262,144 bytes). Objects go in the order in which they need each other: custom
// resource definitions first, until they are established; then namespaces, access
// rules, configuration, workloads, custom resources, and webhooks last. Each is
// reported as created, updated or unchanged; a status that a controller writes in that
// moment is no update. Applying twice changes nothing.
//
// A [Set] is the inventory of a deployment: it lists the members by kind, name and UID. Members that are not among the
// objects any more are deleted, webhooks first, and nothing else ever is. Those that may hold data go by consent alone,
// and those that their user marked to be kept stay, with what they are in. An object that was there before, or is
// another set's, gets its fields and stays whose it was. If `kubectl apply` or an earlier slipway brought such an
// object, it becomes a member with all fields that these own: those that left the manifest go. It records that the
// deployment did not create it, and is removed by consent alone. [Cluster.Preview] judges
// by the same code as [Cluster.Apply].
//
// A field that another field manager owns with another value is a conflict: nothing is
// taken over unless [ApplyOptions.Force] says so, and the error names the field
// and its owner. Requests are repeated only where repeating is right: where the server asks
// for it (429 and 503 with Retry-After), and for a custom resource whose definition
// was established or changed a moment ago. Fields that the server does not know are errors.
//
// An object that is being deleted would go with what is applied to it: it is waited for, some seconds, and made anew.
// If it stays, the rest is applied, for an operator may have to come back to let it go, and the error says what it
// waits for.
//
// # Upgrading
//
// With [ApplyOptions.Wait], what the version of the operator that runs may need changes only when the new one is ready.
// Definitions have the versions of both until then and store objects as before; webhooks come with failurePolicy Ignore
// and get Fail when they answer; webhooks that are called at other paths are so before, if all pods answer there by
// now; roles keep their rules. Versions that leave a definition are not stored any more before they go. What is held
// back follows from the objects and the cluster alone, so a run that was killed is continued by the next one, and
// undone by one with the objects of before.
//
// # Restarting
//
// [Cluster.Outdated] finds workloads whose pods run an older image than its name leads to, for those who know what
// nodes would pull now, and [Cluster.Restart] rolls them out anew, as `kubectl rollout restart` does. Later calls of
// [Cluster.Apply] leave that alone.
//
// # Waiting
//
// [Cluster.AwaitReady] waits until workloads run as they should, and other objects say that they are ready. When they
// do not, it says why, and gives up early where waiting would not help. Webhooks are ready when the API server holds
// the authority of their certificate, and their pods answer; these are asked through its proxy, which is evidence and
// no proof.
//
// # Deleting
//
// [Cluster.Delete] removes custom resources and definitions first, while the operator whose finalizers these carry
// still runs; then all others, those first that need others. It returns when the objects are gone. An object that is
// not there is no error. An object that stays because of a finalizer is an error that names the finalizer. With a [Set]
// only its members go. Objects that others use, and data that the manifests do not bring back, go only by consent.
//
// # Webhooks outside of the cluster
//
// [Cluster.CallHere] has the API server ask a manager on this machine. Before, [Cluster.PlanDetour] says what that will
// change, as a [Detour] to be written down; [Cluster.TakeBack] restores it, values and owners, in whatever process.
package ship

// FieldManager is the owner of what slipway applied before each project had a name of its own; theirs begin with it.
const FieldManager = "slipway"
