//! Values that a statement computes, and conditions on them.

use super::catalog::Known;
use super::{Cell, FrontEnd, Unsupported, simple, unsupported};
use scheduler::ports::Value;
use scheduler::ports::sql::{Arithmetic, Comparison, Predicate, Scalar, Type};
use servers::database::Flavor;
use sqlparser::ast::{
    BinaryOperator, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    Ident, InTarget, Interval, UnaryOperator, Value as Given,
};
use std::sync::Arc;

/// Where an expression stands: what its names mean.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The table of the row at hand.
    pub table: Option<&'a Known>,
    /// Whether there is a row that was to be inserted.
    pub excluded: bool,
}

impl<'a> Place<'a> {
    pub const NOWHERE: Place<'static> = Place {
        table: None,
        excluded: false,
    };

    pub const fn row_of(table: &'a Known) -> Self {
        Place {
            table: Some(table),
            excluded: false,
        }
    }
}

impl FrontEnd {
    pub(super) fn scalar(&self, expr: &Expr, place: Place<'_>) -> Result<Scalar, Unsupported> {
        match expr {
            Expr::Nested(inner) => self.scalar(inner, place),
            Expr::Value(_) | Expr::UnaryOp { .. } => literal(expr).map(Scalar::Value),
            Expr::Identifier(name) => self.name(name, place),
            Expr::CompoundIdentifier(names) => self.qualified(names, place),
            Expr::Interval(interval) => Ok(Scalar::Value(Value::Int(self.milliseconds(interval)?))),
            Expr::BinaryOp { left, op, right } => {
                let how = match op {
                    BinaryOperator::Plus => Arithmetic::Add,
                    BinaryOperator::Minus => Arithmetic::Subtract,
                    BinaryOperator::Modulo => Arithmetic::Remainder,
                    other => return unsupported(format!("{other} as a value")),
                };
                let (left, right) = (self.scalar(left, place)?, self.scalar(right, place)?);
                Ok(Scalar::Combined(how, Box::new(left), Box::new(right)))
            }
            Expr::Subquery(query) => {
                let (select, _) = self.select(query)?;
                Ok(Scalar::Subquery(Box::new(select)))
            }
            Expr::Function(function) => self.function(function, place),
            other => unsupported(format!("{} as a value", kind_of(other))),
        }
    }

    fn name(&self, name: &Ident, place: Place<'_>) -> Result<Scalar, Unsupported> {
        if let Some(variable) = name.value.strip_prefix("@@") {
            return variable_named(variable);
        }
        match place.table {
            Some(table) => table.column(&name.value).map(Scalar::Column),
            None => unsupported("a name without a table"),
        }
    }

    fn qualified(&self, names: &[Ident], place: Place<'_>) -> Result<Scalar, Unsupported> {
        let (first, last) = match names {
            [first, last] => (first, last),
            _ => return unsupported("a name of more than two parts"),
        };
        if first.value.starts_with("@@") {
            return variable_named(&last.value);
        }
        let Some(table) = place.table else {
            return unsupported("a name without a table");
        };
        let column = table.column(&last.value)?;
        if place.excluded && first.value.eq_ignore_ascii_case("excluded") {
            Ok(Scalar::Excluded(column))
        } else if first.value.eq_ignore_ascii_case(&table.name) {
            Ok(Scalar::Column(column))
        } else {
            unsupported("a name of another table")
        }
    }

    fn function(&self, function: &Function, place: Place<'_>) -> Result<Scalar, Unsupported> {
        let name = simple(&function.name);
        let arguments = arguments(function)?;
        match (name.as_str(), arguments.as_slice()) {
            ("now" | "current_timestamp" | "localtimestamp" | "transaction_timestamp", []) => {
                Ok(Scalar::Now)
            }
            ("sysdate", []) if self.flavor == Flavor::MariaDb => Ok(Scalar::Clock),
            ("clock_timestamp", []) => Ok(Scalar::Clock),
            ("sleep" | "pg_sleep", [seconds]) => {
                let ms = u64::try_from(seconds_in_ms(seconds)?).unwrap_or(0);
                Ok(Scalar::Sleep(ms))
            }
            ("date_add" | "date_sub", [time, Expr::Interval(interval)]) => {
                let how = if name == "date_add" {
                    Arithmetic::Add
                } else {
                    Arithmetic::Subtract
                };
                let ms = Scalar::Value(Value::Int(self.milliseconds(interval)?));
                let time = self.scalar(time, place)?;
                Ok(Scalar::Combined(how, Box::new(time), Box::new(ms)))
            }
            ("mod", [a, b]) => {
                let (a, b) = (self.scalar(a, place)?, self.scalar(b, place)?);
                Ok(Scalar::Combined(
                    Arithmetic::Remainder,
                    Box::new(a),
                    Box::new(b),
                ))
            }
            ("concat", parts) => {
                let parts: Result<_, _> =
                    parts.iter().map(|part| self.scalar(part, place)).collect();
                Ok(Scalar::Concat(parts?))
            }
            ("repeat", [text, times]) => match (literal(text)?, literal(times)?) {
                (Value::Text(text), Value::Int(times)) => {
                    let times = usize::try_from(times).unwrap_or(0);
                    Ok(Scalar::Value(Value::Text(text.repeat(times).into())))
                }
                _ => unsupported("REPEAT of something else than a text"),
            },
            ("values" | "value", [Expr::Identifier(column)]) if place.excluded => {
                match place.table {
                    Some(table) => table.column(&column.value).map(Scalar::Excluded),
                    None => unsupported("VALUES without a table"),
                }
            }
            _ => unsupported(format!("the function {name}")),
        }
    }

    /// The length of an interval, in both servers' ways to write one.
    fn milliseconds(&self, interval: &Interval) -> Result<i64, Unsupported> {
        let (number, unit) = match (literal(&interval.value)?, &interval.leading_field) {
            (Value::Int(number), Some(field)) => (number, unit_of(field)),
            (Value::Text(text), field) => {
                let mut words = text.split_whitespace();
                let number = words.next().and_then(|number| number.parse::<i64>().ok());
                let unit = match (words.next(), field) {
                    (Some(word), None) => Some(word.to_lowercase()),
                    (None, Some(field)) => unit_of(field),
                    _ => None,
                };
                match (number, words.next()) {
                    (Some(number), None) => (number, unit),
                    _ => return unsupported("an interval of several parts"),
                }
            }
            _ => return unsupported("an interval that is not a number and a unit"),
        };
        let unit_ms = match unit.as_deref().map(|unit| unit.trim_end_matches('s')) {
            Some("microsecond") if number % 1_000 == 0 => return Ok(number / 1_000),
            Some("millisecond" | "m") => 1,
            Some("second" | "sec" | "") => 1_000,
            Some("minute" | "min") => 60_000,
            Some("hour") => 3_600_000,
            Some("day") => 86_400_000,
            _ => return unsupported("an interval in another unit than milliseconds to days"),
        };
        Ok(number * unit_ms)
    }

    pub(super) fn predicate(
        &self,
        expr: &Expr,
        place: Place<'_>,
    ) -> Result<Predicate, Unsupported> {
        let negated_if = |negated: bool, predicate| {
            if negated {
                Predicate::Not(Box::new(predicate))
            } else {
                predicate
            }
        };
        match expr {
            Expr::Nested(inner) => self.predicate(inner, place),
            Expr::BinaryOp { left, op, right } => self.binary(left, op, right, place),
            Expr::UnaryOp {
                op: UnaryOperator::Not,
                expr,
            } => Ok(Predicate::Not(Box::new(self.predicate(expr, place)?))),
            Expr::IsNull(inner) => Ok(Predicate::IsNull(self.scalar(inner, place)?)),
            Expr::IsNotNull(inner) => {
                let inner = Predicate::IsNull(self.scalar(inner, place)?);
                Ok(Predicate::Not(Box::new(inner)))
            }
            Expr::In {
                expr,
                target: InTarget::List(list),
                negated,
                ..
            } => {
                let values: Result<_, _> =
                    list.iter().map(|value| self.scalar(value, place)).collect();
                let predicate = Predicate::In(self.scalar(expr, place)?, values?);
                Ok(negated_if(*negated, predicate))
            }
            Expr::Between {
                expr,
                negated,
                low,
                high,
            } => {
                let value = self.scalar(expr, place)?;
                let (low, high) = (self.scalar(low, place)?, self.scalar(high, place)?);
                let both = Predicate::All(vec![
                    Predicate::Compare(value.clone(), Comparison::AtLeast, low),
                    Predicate::Compare(value, Comparison::AtMost, high),
                ]);
                Ok(negated_if(*negated, both))
            }
            Expr::Value(value) => match &value.value {
                Given::Boolean(true) => Ok(Predicate::Always),
                Given::Boolean(false) => Ok(Predicate::Not(Box::new(Predicate::Always))),
                _ => unsupported("a value as a condition"),
            },
            other => unsupported(format!("{} as a condition", kind_of(other))),
        }
    }

    fn binary(
        &self,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
        place: Place<'_>,
    ) -> Result<Predicate, Unsupported> {
        let how = match op {
            BinaryOperator::And | BinaryOperator::Or => {
                let both = vec![self.predicate(left, place)?, self.predicate(right, place)?];
                return Ok(if *op == BinaryOperator::And {
                    Predicate::All(both)
                } else {
                    Predicate::Any(both)
                });
            }
            BinaryOperator::Eq => Comparison::Equal,
            BinaryOperator::NotEq => Comparison::NotEqual,
            BinaryOperator::Lt => Comparison::Less,
            BinaryOperator::LtEq => Comparison::AtMost,
            BinaryOperator::Gt => Comparison::Greater,
            BinaryOperator::GtEq => Comparison::AtLeast,
            other => return unsupported(format!("{other} as a condition")),
        };
        let (left, right) = (self.scalar(left, place)?, self.scalar(right, place)?);
        Ok(Predicate::Compare(left, how, right))
    }

    /// How a value is shown.
    pub(super) fn cell(&self, scalar: &Scalar, place: Place<'_>) -> Cell {
        match scalar {
            Scalar::Column(column) | Scalar::Excluded(column) => {
                let def = place.table.and_then(|table| table.def_of(*column));
                match def.map(|def| def.kind) {
                    Some(Type::Time { .. }) => Cell::Time,
                    _ => Cell::Plain,
                }
            }
            Scalar::Now | Scalar::Clock => Cell::Time,
            Scalar::Combined(_, left, _) => self.cell(left, place),
            Scalar::Sleep(_) if self.flavor == Flavor::Postgres => Cell::Void,
            _ => Cell::Plain,
        }
    }
}

/// A value that is written down.
pub(super) fn literal(expr: &Expr) -> Result<Value, Unsupported> {
    match expr {
        Expr::Nested(inner) => literal(inner),
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => match literal(expr)? {
            Value::Int(number) => Ok(Value::Int(-number)),
            _ => unsupported("minus something else than a number"),
        },
        Expr::Value(value) => match &value.value {
            Given::Null => Ok(Value::Null),
            Given::Boolean(truth) => Ok(Value::Int(i64::from(*truth))),
            Given::Number(number, _) => match number.parse() {
                Ok(number) => Ok(Value::Int(number)),
                Err(_) => unsupported("a number that is not whole"),
            },
            Given::SingleQuotedString(text) | Given::DoubleQuotedString(text) => {
                if finer_than_a_millisecond(text) {
                    return unsupported("a time finer than a millisecond");
                }
                Ok(Value::Text(text.as_str().into()))
            }
            other => unsupported(format!("the literal {other}")),
        },
        other => unsupported(format!("{} where a literal is due", kind_of(other))),
    }
}

/// Whether a text is a time with more digits than the models keep.
fn finer_than_a_millisecond(text: &str) -> bool {
    let Some((time, fraction)) = text.split_once('.') else {
        return false;
    };
    let is_time = time.len() == 19 && time.bytes().filter(u8::is_ascii_digit).count() == 14;
    is_time && fraction.trim_end_matches('0').len() > 3
}

/// A number of seconds, maybe with a fraction, in milliseconds.
pub(super) fn seconds_in_ms(expr: &Expr) -> Result<i64, Unsupported> {
    if let Expr::Value(value) = expr
        && let Given::Number(number, _) = &value.value
        && let Some((whole, fraction)) = number.split_once('.')
    {
        let fraction: String = fraction.chars().chain("000".chars()).take(3).collect();
        let whole: i64 = whole.parse().unwrap_or(0);
        let fraction: i64 = fraction.parse().unwrap_or(0);
        return Ok(whole * 1_000 + fraction);
    }
    match literal(expr)? {
        Value::Int(seconds) => Ok(seconds * 1_000),
        _ => unsupported("seconds that are no number"),
    }
}

/// The plain arguments of a function.
pub(super) fn arguments(function: &Function) -> Result<Vec<Expr>, Unsupported> {
    let list = match &function.args {
        FunctionArguments::None => return Ok(Vec::new()),
        FunctionArguments::List(list) => list,
        FunctionArguments::Subquery(_) => return unsupported("a function of a SELECT"),
    };
    list.args
        .iter()
        .map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Ok(expr.clone()),
            _ => unsupported(format!("the function {} of *", simple(&function.name))),
        })
        .collect()
}

fn variable_named(name: &str) -> Result<Scalar, Unsupported> {
    let name = name.to_lowercase();
    let known = [
        "in_transaction",
        "autocommit",
        "innodb_rollback_on_timeout",
        "innodb_deadlock_detect",
        "innodb_autoinc_lock_mode",
        "innodb_snapshot_isolation",
        "innodb_lock_wait_timeout",
        "wait_timeout",
        "idle_transaction_timeout",
        "tx_isolation",
        "transaction_isolation",
    ];
    match known.contains(&name.as_str()) {
        true => Ok(Scalar::Variable(Arc::from(name))),
        false => unsupported(format!("the variable @@{name}")),
    }
}

fn unit_of(field: &DateTimeField) -> Option<String> {
    Some(field.to_string().to_lowercase())
}

/// The kind of an expression, without its names and values.
fn kind_of(expr: &Expr) -> &'static str {
    match expr {
        Expr::Cast { .. } => "a cast",
        Expr::Case { .. } => "CASE",
        Expr::Exists { .. } => "EXISTS",
        Expr::In { .. } => "IN (SELECT ...)",
        Expr::Like { .. } | Expr::ILike { .. } | Expr::RLike { .. } => "LIKE",
        Expr::Extract { .. } => "EXTRACT",
        Expr::Tuple(_) => "a row of values",
        Expr::TypedString(_) => "a typed literal",
        Expr::BinaryOp { .. } | Expr::IsNull(_) | Expr::IsNotNull(_) => "a condition",
        Expr::Subquery(_) => "a subquery",
        Expr::Collate { .. } => "COLLATE",
        Expr::IsDistinctFrom(..) | Expr::IsNotDistinctFrom(..) => "IS DISTINCT FROM",
        _ => "an expression",
    }
}
