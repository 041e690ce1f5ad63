package mcpserver

import (
	"fmt"
	"time"

	"skillrouter/operational"
)

type environments struct {
	Environments []operational.Environment `json:"environments"`
	Notice       string                    `json:"notice,omitempty"`
}

type oneEnvironment struct {
	Environment operational.Environment `json:"environment"`
}

type scans struct {
	Scans  []operational.Scan `json:"scans"`
	Notice string             `json:"notice,omitempty"`
}

type oneScan struct {
	Scan operational.Scan `json:"scan"`
}

// addReconTools offers what is scanned, the scans and what they found.
func (s *Server) addReconTools() {
	recon := s.services.Recon
	add(s, tool{
		name: "store_environment", title: "Store an environment", set: ToolsetOperations, effect: ensure, holds: "environment",
		description: "Add something that is scanned (a host, a service, a repository), or change the one of that name.",
	}, described[operational.EnvironmentDraft]("name!", "kind", "description", "project"), then(recon.StoreEnvironment, func(env operational.Environment) (oneEnvironment, string) {
		return oneEnvironment{env}, "The environment is stored as " + visible(env.ID) + "."
	}))
	add(s, tool{
		name: "list_environments", title: "List environments", set: ToolsetOperations, effect: reads, holds: "environments",
		description: "What is scanned, by name.",
	}, func(p *params, project *string) { p.may("project", project, "") }, then(recon.Environments, func(found []operational.Environment) (environments, string) {
		out := environments{Environments: owned(found)}
		return out, listing(out.Environments, &out.Notice, environmentEntry, "No environment is known.", "%s.", count(len(found), "environment", "environments")).String()
	}))
	add(s, tool{
		name: "start_scan", title: "Start a scan", set: ToolsetOperations, effect: adds, holds: "scan",
		description: "Record that you scan an environment; report_finding what it finds, then finish_scan.",
	}, described[operational.ScanDraft]("environment!", "scanner!", "status", "summary"), then(recon.StartScan, shownScan))
	add(s, tool{
		name: "finish_scan", title: "Finish a scan", set: ToolsetOperations, effect: adds, holds: "scan",
		description: "End a scan that runs.",
	}, describedOne[string, operational.ScanEnd]("scan_id!", "", "status", "summary"), then(changing(recon.FinishScan), shownScan))
	add(s, tool{
		name: "list_scans", title: "List scans", set: ToolsetOperations, effect: reads, holds: "scans",
		description: "Scans, the latest first.",
	}, described[operational.ScanFilter]("environment", "project", "status", "limit"), then(recon.Scans, func(found []operational.Scan) (scans, string) {
		out := scans{Scans: owned(found)}
		return out, listing(out.Scans, &out.Notice, scanEntry, "No scan fits.", "%s, the latest first.", count(len(found), "scan", "scans")).String()
	}))
	s.addFindingTools()
}

func environmentEntry(e *operational.Environment) entry {
	return entry{[]*string{&e.Name, &e.Description}, func(cut int) (string, []string) {
		return "", []string{e.Name, attributes("kind", e.Kind, "project", e.Project, "id", e.ID), e.Description, cutNote(cut)}
	}}
}

func shownScan(scan operational.Scan) (oneScan, string) {
	return oneScan{scan}, fmt.Sprintf("Scan %s is %s.", visible(scan.ID), visible(scan.Status))
}

func scanEntry(scan *operational.Scan) entry {
	return entry{[]*string{&scan.Environment, &scan.Scanner, &scan.Summary}, func(cut int) (string, []string) {
		return fmt.Sprintf("%s, begun %s by %s", visible(scan.Status), scan.StartedAt.UTC().Format(time.RFC3339), author(scan.AgentID)),
			[]string{attributes("environment", scan.Environment, "scanner", scan.Scanner, "id", scan.ID), scan.Summary, cutNote(cut)}
	}}
}
