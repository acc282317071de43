//! An estimate as text and as JSON.

use super::{Choice, Found, Target};
use cutlink_device::Memory;
use cutlink_flow::duration;
use cutlink_meshing::mesh::report::{bytes, columns, grouped, short};
use serde_json::{Value, json};
use std::fmt::Write as _;

impl Found<'_> {
    pub(super) fn text(&self) -> String {
        let mut text = self.head();
        let heads = [
            "levels",
            "dx [m]",
            "cells",
            "updates a step",
            "y+",
            "memory, CPU",
            "memory, GPU",
            "time",
        ];
        let mut rows = vec![heads.map(str::to_owned)];
        rows.extend(self.choices.iter().map(|choice| self.row(choice)));
        let aims = self
            .target
            .iter()
            .filter_map(|target| target.choice.as_ref());
        rows.extend(aims.map(|choice| self.row(choice)));
        text += &columns(&rows);
        let given = &self.choices[self.given];
        if given.cells.len() > 1 {
            let levels = given.cells.iter().enumerate();
            let levels: Vec<String> = levels
                .map(|(n, &cells)| format!("{n}: {}", grouped(cells)))
                .collect();
            let _ = writeln!(
                text,
                "\ncells by level, as in the case: {}",
                levels.join(", ")
            );
        }
        let _ = writeln!(
            text,
            "\ntime: {}{} root steps at {:.1} million plain updates a second, measured now; within a factor of two{}",
            if self.at_most { "at most " } else { "" },
            given.steps,
            self.speed / 1e6,
            if self.adapts {
                "; of the mesh at the start, which follows the flow"
            } else {
                ""
            },
        );
        let (memory, free) = self.memory;
        let need = self.needed(given);
        let fits = if need <= free as f64 {
            "it fits"
        } else {
            "it does not fit"
        };
        let _ = writeln!(
            text,
            "{fits}: {} are needed, {} of {memory} are free",
            bytes(need as u64),
            bytes(free)
        );
        text += &self.aim();
        text
    }

    fn head(&self) -> String {
        let (physics, wall) = (&self.physics, &self.wall);
        let [lattice, collision, precision] = &self.params;
        let mut text = format!(
            "estimate  {}: Re {:.6}, {lattice}, {collision}, {precision}\ndevice    {}\n\
             wall      flat plate of the reference length, {}: C_f {:.4}, u_tau {} m/s, nu / u_tau {} m\n",
            self.name,
            physics.reynolds(),
            self.device.text(),
            wall.law(),
            wall.friction,
            short(wall.velocity),
            short(wall.length),
        );
        if let Some(unstable) = &self.unstable {
            let _ = writeln!(text, "unstable  {unstable}");
        }
        text.push('\n');
        text
    }

    fn row(&self, choice: &Choice) -> [String; 8] {
        [
            choice.levels.to_string(),
            short(choice.dx),
            grouped(choice.all_cells()),
            grouped(choice.updates as u64),
            format!("{:.3}", choice.y_plus),
            bytes(choice.cpu as u64),
            bytes(choice.gpu[0] as u64),
            duration(choice.seconds(self.speed)),
        ]
    }

    /// The bytes of a choice where the flow would run.
    fn needed(&self, choice: &Choice) -> f64 {
        match self.memory.0 {
            Memory::Host => choice.cpu,
            Memory::Device => choice.gpu[0],
        }
    }

    fn aim(&self) -> String {
        let Some(Target {
            y_plus,
            dx,
            levels,
            root,
            choice,
        }) = &self.target
        else {
            return String::new();
        };
        let how = match (levels, root) {
            (Some(levels), _) => format!("{levels} levels"),
            (_, Some(root)) => format!("root = {root}, in multiples of 4"),
            _ => unreachable!("a mesh has levels or is a box"),
        };
        let mut text = format!(
            "y+ {y_plus} at the wall needs cells of {} m there: {how}",
            short(*dx)
        );
        text += match choice {
            Some(_) => ", the last row\n",
            None => {
                ", which is beyond the finest lattice of this box; use a wall model, or a larger root\n"
            }
        };
        text
    }

    pub(super) fn to_json(&self) -> Value {
        let wall = &self.wall;
        let device = &self.device;
        let mut object = json!({
            "schema": cutlink_common::JSON_SCHEMA,
            "cutlink": env!("CARGO_PKG_VERSION"),
            "command": "estimate",
            "case": self.name,
            "dimensions": self.dimensions,
            "device": { "name": device.name, "reason": device.reason, "model": device.model },
            "reynolds": self.physics.reynolds(),
            "lattice": self.params[0],
            "collision": self.params[1],
            "precision": self.params[2],
            "unstable": self.unstable.as_ref().map(ToString::to_string),
            "updates_per_second": self.speed,
            "free_bytes": self.memory.1,
            "fits": self.needed(&self.choices[self.given]) <= self.memory.1 as f64,
            "wall": {
                "turbulent": wall.turbulent,
                "skin_friction": wall.friction,
                "friction_velocity": wall.velocity,
                "viscous_length": wall.length,
            },
            "flow": self.of(&self.choices[self.given]),
            "choices": self.choices.iter().map(|choice| self.of(choice)).collect::<Vec<_>>(),
            "target": null,
        });
        if let Some(target) = &self.target {
            object["target"] = json!({
                "y_plus": target.y_plus,
                "dx": target.dx,
                "levels": target.levels,
                "root": target.root,
                "flow": target.choice.as_ref().map(|choice| self.of(choice)),
            });
        }
        object
    }

    fn of(&self, choice: &Choice) -> Value {
        json!({
            "levels": choice.levels,
            "dx": choice.dx,
            "cells": choice.all_cells(),
            "cells_by_level": choice.cells,
            "steps": choice.steps,
            "updates_per_step": choice.updates,
            "y_plus": choice.y_plus,
            "bytes": { "cpu": choice.cpu, "gpu": choice.gpu[0], "beside_gpu": choice.gpu[1] },
            "seconds": choice.seconds(self.speed),
        })
    }
}
