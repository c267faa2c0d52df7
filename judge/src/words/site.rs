//! Places in the code, in words.

use threadcount_model::record::jvm::SiteTotal;

/// The most telling frame of a site: the one that holds the carrier, else the application's, else the topmost.
pub(crate) fn place(site: &SiteTotal) -> String {
    let frame = site.holder.as_ref().or(site.application.as_ref()).or(site.top.as_ref());
    frame.cloned().unwrap_or_else(|| "a place without a Java frame".to_owned())
}

/// The place, and the application's frame if it is another one.
pub(crate) fn place_and_application(site: &SiteTotal) -> String {
    let place = place(site);
    match &site.application {
        Some(application) if *application != place => {
            format!("{place} (the application is at {application})")
        }
        _ => place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_goes_before_the_application_and_that_before_the_top() {
        let mut site = SiteTotal { top: Some("java.Top.t:3".to_owned()), ..SiteTotal::default() };
        assert_eq!(place_and_application(&site), "java.Top.t:3");
        site.application = Some("shop.A.a:2".to_owned());
        assert_eq!(place_and_application(&site), "shop.A.a:2");
        site.holder = Some("shop.H.h:1".to_owned());
        assert_eq!(place_and_application(&site), "shop.H.h:1 (the application is at shop.A.a:2)");
        assert_eq!(place(&SiteTotal::default()), "a place without a Java frame");
    }
}
