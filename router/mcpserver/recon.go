package mcpserver

import (
	"context"
	"fmt"
	"time"

	"skillrouter/operational"
)

type storeEnvironment struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	Description string `json:"description"`
	Project     string `json:"project"`
}

type ofProject struct {
	Project string `json:"project"`
}

type startScan struct {
	Environment string `json:"environment"`
	Scanner     string `json:"scanner"`
	Status      string `json:"status"`
	Summary     string `json:"summary"`
}

type finishScan struct {
	ScanID  string `json:"scan_id"`
	Status  string `json:"status"`
	Summary string `json:"summary"`
}

type listScans struct {
	Environment string `json:"environment"`
	Project     string `json:"project"`
	Status      string `json:"status"`
	Limit       int    `json:"limit"`
}

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
	add(s, tool{
		name: "store_environment", title: "Store an environment", set: ToolsetOperations, effect: ensure,
		description: "Add something that is scanned (a host, a service, a repository), or change the one of that name.",
		input:       arguments(required(text("name", "")), text("kind", ""), text("description", ""), text("project", "")),
		output:      holds("environment"),
	}, s.storeEnvironment)
	add(s, tool{
		name: "list_environments", title: "List environments", set: ToolsetOperations, effect: reads,
		description: "What is scanned, by name.",
		input:       arguments(text("project", "")), output: holds("environments"),
	}, s.listEnvironments)
	add(s, tool{
		name: "start_scan", title: "Start a scan", set: ToolsetOperations, effect: adds,
		description: "Record that you scan an environment; report_finding what it finds, then finish_scan.",
		input: arguments(
			required(text("environment", "Its name; a new one is added")),
			required(text("scanner", "Such as trivy")),
			text("status", "running (default), completed or failed"),
			text("summary", ""),
		),
		output: holds("scan"),
	}, s.startScan)
	add(s, tool{
		name: "finish_scan", title: "Finish a scan", set: ToolsetOperations, effect: adds,
		description: "End a scan that runs.",
		input:       arguments(required(text("scan_id", "")), text("status", "completed (default) or failed"), text("summary", "")),
		output:      holds("scan"),
	}, s.finishScan)
	add(s, tool{
		name: "list_scans", title: "List scans", set: ToolsetOperations, effect: reads,
		description: "Scans, the latest first.",
		input:       arguments(text("environment", ""), text("project", ""), text("status", ""), integer("limit", "Default 100", 1, operational.MaxLimit)),
		output:      holds("scans"),
	}, s.listScans)
	s.addFindingTools()
}

func (s *Server) storeEnvironment(ctx context.Context, in storeEnvironment) (reply[oneEnvironment], error) {
	env, err := s.services.Recon.StoreEnvironment(ctx, operational.EnvironmentDraft{Name: in.Name, Kind: in.Kind, Description: in.Description, Project: in.Project})
	return reply[oneEnvironment]{oneEnvironment{env}, "The environment is stored as " + visible(env.ID) + "."}, err
}

func (s *Server) listEnvironments(ctx context.Context, in ofProject) (reply[environments], error) {
	found, err := s.services.Recon.Environments(ctx, in.Project)
	if err != nil {
		return reply[environments]{}, err
	}
	out := environments{Environments: append([]operational.Environment{}, found...)}
	if len(found) == 0 {
		return reply[environments]{out, "No environment is known."}, nil
	}
	items := make([][]*string, len(found))
	for i := range out.Environments {
		items[i] = []*string{&out.Environments[i].Name, &out.Environments[i].Description}
	}
	left := fitTexts(items)
	out.Notice = notice
	f := newFence("%s.", count(len(found), "environment", "environments"))
	f.explain()
	for i, e := range out.Environments {
		f.add(fmt.Sprintf("%d.", i+1), e.Name, attributes("kind", e.Kind, "project", e.Project, "id", e.ID), e.Description, cutNote(left[i]))
	}
	return reply[environments]{out, f.String()}, nil
}

func (s *Server) startScan(ctx context.Context, in startScan) (reply[oneScan], error) {
	scan, err := s.services.Recon.StartScan(ctx, operational.ScanDraft{
		Environment: in.Environment, Scanner: in.Scanner, Status: in.Status, Summary: in.Summary, AgentID: s.actor(ctx, ""),
	})
	return reply[oneScan]{oneScan{scan}, fmt.Sprintf("Scan %s is %s.", visible(scan.ID), visible(scan.Status))}, err
}

func (s *Server) finishScan(ctx context.Context, in finishScan) (reply[oneScan], error) {
	scan, err := s.services.Recon.FinishScan(ctx, in.ScanID, operational.ScanEnd{Status: in.Status, Summary: in.Summary, AgentID: s.actor(ctx, "")})
	return reply[oneScan]{oneScan{scan}, fmt.Sprintf("Scan %s is %s.", visible(scan.ID), visible(scan.Status))}, err
}

func (s *Server) listScans(ctx context.Context, in listScans) (reply[scans], error) {
	found, err := s.services.Recon.Scans(ctx, operational.ScanFilter{Environment: in.Environment, Project: in.Project, Status: in.Status, Limit: in.Limit})
	if err != nil {
		return reply[scans]{}, err
	}
	out := scans{Scans: append([]operational.Scan{}, found...)}
	if len(found) == 0 {
		return reply[scans]{out, "No scan fits."}, nil
	}
	items := make([][]*string, len(found))
	for i := range out.Scans {
		items[i] = []*string{&out.Scans[i].Environment, &out.Scans[i].Scanner, &out.Scans[i].Summary}
	}
	left := fitTexts(items)
	out.Notice = notice
	f := newFence("%s, the latest first.", count(len(found), "scan", "scans"))
	f.explain()
	for i, scan := range out.Scans {
		f.add(fmt.Sprintf("%d. %s, begun %s by %s", i+1, visible(scan.Status), scan.StartedAt.UTC().Format(time.RFC3339), author(scan.AgentID)),
			attributes("environment", scan.Environment, "scanner", scan.Scanner, "id", scan.ID), scan.Summary, cutNote(left[i]))
	}
	return reply[scans]{out, f.String()}, nil
}
