//! Lines through points, drawn as SVG.

use crate::table::bytes;
use plotters::coord::combinators::IntoLogRange;
use plotters::prelude::*;
use std::error::Error;
use std::ops::Range;

/// A drawing; both axes are logarithmic, so all numbers are above 0.
pub(crate) struct Plot<'a> {
    pub(crate) title: &'a str,
    /// What stands along the axes.
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
    pub(crate) lines: Vec<Line<'a>>,
}

/// Points that are joined.
pub(crate) struct Line<'a> {
    pub(crate) name: &'a str,
    pub(crate) points: Vec<(f64, f64)>,
}

const SIZE: (u32, u32) = (760, 460);
const COLOURS: [RGBColor; 4] =
    [RGBColor(43, 92, 138), RGBColor(200, 80, 40), RGBColor(60, 140, 80), RGBColor(130, 90, 160)];
const FONT: (&str, u32) = ("sans-serif", 14);

impl Plot<'_> {
    /// The drawing's text.
    ///
    /// # Errors
    /// If there is nothing to draw, or a number has no place on a logarithmic axis.
    pub(crate) fn to_svg(&self) -> Result<String, Box<dyn Error>> {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let x_range = range(points().map(|point| point.0)).ok_or("no points on a logarithmic axis")?;
        let y_range = range(points().map(|point| point.1)).ok_or("no points on a logarithmic axis")?;
        // Room above the points for the lines' names.
        let y_range = y_range.start..y_range.end * (y_range.end / y_range.start).cbrt();
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            area.fill(&WHITE)?;
            let mut chart = ChartBuilder::on(&area)
                .caption(self.title, ("sans-serif", 18))
                .margin(12)
                .x_label_area_size(44)
                .y_label_area_size(84)
                .build_cartesian_2d(x_range.log_scale(), y_range.log_scale())?;
            let number = |x: &f64| if *x < 1.0 { x.to_string() } else { bytes(*x as u64) };
            let mut mesh = chart.configure_mesh();
            mesh.x_desc(self.x).y_desc(self.y).label_style(FONT).light_line_style(TRANSPARENT);
            mesh.x_labels(5).x_label_formatter(&number).y_label_formatter(&number).draw()?;
            for (line, colour) in self.lines.iter().zip(COLOURS.into_iter().cycle()) {
                let joined =
                    LineSeries::new(line.points.iter().copied(), colour.stroke_width(2)).point_size(3);
                let sample = move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2));
                chart.draw_series(joined)?.label(line.name).legend(sample);
            }
            let mut names = chart.configure_series_labels();
            names
                .position(SeriesLabelPosition::UpperRight)
                .label_font(FONT)
                .background_style(WHITE.mix(0.8))
                .border_style(BLACK.mix(0.3))
                .draw()?;
            area.present()?;
        }
        Ok(svg)
    }
}

/// A little more than what the numbers cover; `None` if there are none, or one has no logarithm.
fn range(numbers: impl Iterator<Item = f64>) -> Option<Range<f64>> {
    let (least, most) =
        numbers.fold((f64::INFINITY, 0.0_f64), |(least, most), number| (least.min(number), most.max(number)));
    (least > 0.0 && least.is_finite() && most.is_finite()).then_some(least / 1.5..most * 1.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: &[(f64, f64)]) -> Result<String, Box<dyn Error>> {
        let line = |name, points: &[(f64, f64)]| Line { name, points: points.to_vec() };
        let lines = vec![line("one line", points), line("another", points)];
        Plot { title: "a title", x: "along", y: "up", lines }.to_svg()
    }

    #[test]
    fn a_drawing_has_its_words_and_points() {
        let svg = plot(&[(1.0, 10.0), (2.0, 1e6)]).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        for words in ["a title", "along", "up", "one line", "another"] {
            assert!(svg.contains(words), "{words}");
        }
        assert_eq!(svg.matches("<circle").count(), 4);
        assert!(svg.contains("1,000,000"));
        assert!(plot(&[(3.0, 3.0)]).unwrap().contains("<circle"));
    }

    #[test]
    fn what_has_no_logarithm_is_refused() {
        for points in [&[][..], &[(0.0, 1.0)], &[(1.0, -1.0)], &[(f64::INFINITY, 1.0)], &[(1.0, f64::NAN)]] {
            assert!(plot(points).is_err(), "{points:?}");
        }
    }
}
